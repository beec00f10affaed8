package dev.backfill.postgres.chaos;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What strikes, and how often out of a hundred. */
enum Fault {
    KILL(60, "a host is killed (SIGKILL) and replaced"),
    FREEZE(10, "a host is stopped past its lease (SIGSTOP) and goes on (SIGCONT)"),
    CUT(8, "every connection is reset"),
    STALL(6, "every connection falls silent past the lease"),
    LOSE_ANSWER(8, "the answer to a COMMIT is lost"),
    PAUSE(6, "an operator pauses, and resumes"),
    RESTART(1, "the server is restarted in order"),
    CRASH(1, "the server crashes and recovers");

    private final int weight;
    private final String sentence;

    Fault(int weight, String sentence) {
        this.weight = weight;
        this.sentence = sentence;
    }

    String sentence() {
        return sentence;
    }

    /** Every kind once, in any order: also a short run has seen each. */
    static List<Fault> eachOnce(Random random) {
        List<Fault> all = new ArrayList<>(Arrays.asList(values()));
        Collections.shuffle(all, random);
        return all;
    }

    /** One of them. */
    static Fault any(Random random) {
        int dice = random.nextInt(100);
        for (Fault fault : values()) {
            dice -= fault.weight;
            if (dice < 0) {
                return fault;
            }
        }
        throw new IllegalStateException("The weights must make 100.");
    }
}
