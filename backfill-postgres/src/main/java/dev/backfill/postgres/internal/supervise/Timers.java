package dev.backfill.postgres.internal.supervise;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Makes timers of one thread each, whose owner shuts them down. Stateless. */
public final class Timers {

    private Timers() {}

    /** A timer whose thread has that name, and is there only while something is due. */
    public static ScheduledThreadPoolExecutor on(String threadName) {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, threadName);
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        // No idle thread in the many processes in which nothing is due.
        timer.setKeepAliveTime(10, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }
}
