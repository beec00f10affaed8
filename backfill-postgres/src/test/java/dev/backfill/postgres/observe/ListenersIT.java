package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.operate.BackfillState;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever a listener does, outcomes stand, other listeners hear all, and the engine closes. */
@PostgresTest
class ListenersIT {

    private final TestDatabase db;
    private final Heard heard = new Heard();

    ListenersIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    @Test
    void a_listener_that_throws_is_reported_and_changes_nothing() { // AT-4
        try (Logged logged = new Logged();
                BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(Ledgers.counting(3, (batch, tx) -> 0))
                        .listener(event -> {
                            throw new IllegalStateException("a defect of the listener");
                        })
                        .listener(heard)
                        .open()) {
            harness.runToCompletion(Ledgers.ID);
            assertThat(harness.state(Ledgers.ID)).isEqualTo(BackfillState.COMPLETED);
            heard.await(BackfillEvent.Kind.COMPLETED, 1);
            Eventually.until(
                    "it is reported",
                    () -> logged.all().stream()
                            .anyMatch(l -> l.getMessage().equals("A backfill listener failed; the outcome stands")));
        }
    }

    @Test
    void a_listener_in_a_language_without_checked_exceptions_hears_the_next_event_too() { // OB-3
        List<BackfillEvent.Kind> told = new CopyOnWriteArrayList<>();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.counting(3, (batch, tx) -> 0))
                .listener(event -> {
                    told.add(event.kind());
                    throwUnchecked(new Exception("checked, and not declared"));
                })
                .open()) {
            harness.runToCompletion(Ledgers.ID);
            Eventually.until("it hears of the end", () -> told.contains(BackfillEvent.Kind.COMPLETED));
        }
    }

    @SuppressWarnings("unchecked") // What Kotlin does with every checked exception.
    private static <E extends Exception> void throwUnchecked(Exception thrown) throws E {
        throw (E) thrown;
    }

    @Test
    void a_listener_that_hangs_loses_its_own_events_only_and_close_leaves_it_behind() {
        CountDownLatch never = new CountDownLatch(1);
        AtomicReference<Thread> hanging = new AtomicReference<>();
        BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.counting(3, (batch, tx) -> 0))
                .listener(event -> {
                    hanging.set(Thread.currentThread());
                    awaitDeafly(never);
                })
                .listener(heard)
                .open();
        try {
            harness.runToCompletion(Ledgers.ID);
            heard.await(BackfillEvent.Kind.COMPLETED, 1);
        } finally {
            harness.close(); // would never return if it waited for the listener
        }
        assertThat(hanging.get().isAlive()).isTrue();
        never.countDown();
        Eventually.within(Duration.ofSeconds(30))
                .holds("its thread ends", () -> !hanging.get().isAlive());
    }

    // Even an interrupt does not reach it.
    private static void awaitDeafly(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // deaf
            }
        }
    }
}
