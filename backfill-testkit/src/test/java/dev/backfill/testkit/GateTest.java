package dev.backfill.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GateTest {

    @Test
    void a_thread_is_held_until_the_gate_opens() throws Exception {
        Gate gate = new Gate();
        CompletableFuture<String> held = CompletableFuture.supplyAsync(() -> {
            gate.hold();
            return "through";
        });
        gate.awaitArrival();
        assertThat(held).isNotDone();
        gate.open();
        assertThat(held.get(10, TimeUnit.SECONDS)).isEqualTo("through");
    }

    @Test
    void a_gate_that_nobody_opens_fails_instead_of_hanging() {
        Gate gate = new Gate(Duration.ofMillis(20));
        assertThatThrownBy(gate::hold)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Nobody opened the gate");
    }

    @Test
    void a_gate_that_nobody_reaches_fails_instead_of_hanging() {
        assertThatThrownBy(new Gate(Duration.ofMillis(20))::awaitArrival)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Nobody arrived");
    }

    @Test
    void an_open_gate_stays_open() throws Exception {
        Gate gate = new Gate();
        gate.open();
        assertThat(gate.holdThen(() -> 7)).isEqualTo(7);
        assertThat(gate.hasArrival()).isTrue();
    }

    @Test
    void polling_ends_as_soon_as_the_condition_holds() {
        AtomicInteger asked = new AtomicInteger();
        Eventually.until("it was asked three times", () -> asked.incrementAndGet() == 3);
        assertThat(asked).hasValue(3);
    }

    @Test
    void polling_in_vain_says_what_it_waited_for_and_why_it_failed_last() {
        assertThatThrownBy(() -> Eventually.within(Duration.ofMillis(30)).holds("pigs fly", () -> {
                    throw new IllegalStateException("no wings");
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("pigs fly")
                .hasRootCauseMessage("no wings");
    }
}
