insert into communities (id, name, settings, deleting, created_at)
select md5('relay-community-' || n)::uuid,
       'Community ' || n || (array['', ' ünïcode', ' 社区', ' 🐘'])[1 + n % 4],
       case n % 3 when 0 then jsonb_build_object('retention', jsonb_build_object('days', 30 + n)) -- new settings
                  when 1 then jsonb_build_object('retention_days', (60 + n)::text)                  -- old settings
                  else '{}' end,
       n % 25 = 7,
       timestamptz '2021-01-01 00:00:00+00' + n * interval '7 hours'
from generate_series(1, 50) n;

insert into channels (id, community_id, name, estimated_events)
select n, md5('relay-community-' || (1 + n * 7 % 50))::uuid, 'channel-' || n, n % 10 * 100
from generate_series(1, 1000) n;

insert into events (id, uid, community_id, channel_id, kind, author, content, tags, created_at, deleted_at)
select n + n / 89, -- some rows were removed for good
       hash::uuid,
       md5('relay-community-' || (1 + channel * 7 % 50))::uuid,
       channel,
       case when reaction then 7 else 1 end,
       md5('relay-user-' || b % 5000)::uuid,
       case when not deleted and not reaction then
           (array['plain text', 'Ｆｕｌｌｗｉｄｔｈ ｔｅｘｔ', 'ﬁne ﬂuid ligatures', E'decomposed cafe\u0301', 'Å as Ångström sign',
                  'circled ①②③', 'العربية نص', E'한글', '👩‍👩‍👧 family', 'half ½ and ²', 'ｶﾀｶﾅ', '𝔉𝔯𝔞𝔨𝔱𝔲𝔯'])[1 + c % 12]
           || ' #' || n end,
       case when deleted then '{}'
            when old and b % 11 = 0 then null
            else '{}'::jsonb
                 || case when not reply then '{}'
                         when old then jsonb_build_object('e', jsonb_build_array(root))        -- a number once
                         else jsonb_build_object('e', jsonb_build_array(root::text)) end       -- text today
                 || case when c % 5 > 1 then '{}'
                         when old then jsonb_build_object('mentions', concat_ws(',', md5('relay-user-' || a % 5000)::uuid,
                                                          case when c % 5 = 1 then md5('relay-user-' || b % 4999)::uuid end))
                         else jsonb_build_object('p', jsonb_build_array(md5('relay-user-' || a % 5000)::uuid,
                                                                       md5('relay-user-' || b % 4999)::uuid)) end
       end,
       -- An import gave thousands of events one moment; elsewhere eight share a second, and clocks were off by a few.
       case when imported then timestamptz '2023-06-01 12:00:00.123456+00'
            else timestamptz '2022-01-01 00:00:00+00' + (n / 8) * interval '1 second' + (b % 7 - 3) * interval '1 second' end,
       case when deleted then timestamptz '2025-01-01 00:00:00+00' + (n % 1000) * interval '1 minute' end
from (
    select n, hash, a, b, c,
           1 + (1000 * power(a / 268435456.0::float8, 3))::bigint % 1000 as channel, -- few channels hold most of it
           b % 20 = 0 as deleted,
           b % 20 = 1 as reaction,
           n <= total / 2 as old,
           c % 3 = 0 and n > 100 as reply,
           (1 + b % (n / 2 + 1)) + (1 + b % (n / 2 + 1)) / 89 as root,
           n % 40 = 0 as imported
    from (
        select n, hash, total,
               ('x' || substr(hash, 1, 7))::bit(28)::integer as a,
               ('x' || substr(hash, 9, 7))::bit(28)::integer as b,
               ('x' || substr(hash, 18, 7))::bit(28)::integer as c
        from (select current_setting('relay.seed_rows')::bigint as total) size,
             generate_series(1, total) n,
             lateral (select md5('relay-event-' || n) as hash offset 0) h
        offset 0
    ) dice
    offset 0
) event;
