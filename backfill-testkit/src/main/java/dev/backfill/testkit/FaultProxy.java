package dev.backfill.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A network between clients and a PostgreSQL server on this machine, for what {@link FaultyConnections} can't do: faults of whole
 * processes, links that fall silent, answers that get lost after the server acted, and a round-trip time for benchmarks. Listens on
 * the loopback address only. Thread-safe.
 *
 * @since 0.1
 */
public final class FaultProxy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FaultProxy.class);
    private static final Pattern URL = Pattern.compile("jdbc:postgresql://([^:/?]+):(\\d+)/(.*)");
    private static final AtomicInteger PROXIES = new AtomicInteger();

    private final String name = "backfill-proxy-" + PROXIES.incrementAndGet();
    private final ServerSocket listener;
    private final InetSocketAddress target;
    private final String urlTail;
    private final Set<FaultLink> links = ConcurrentHashMap.newKeySet();
    private final AtomicInteger numbers = new AtomicInteger();
    private final AtomicReference<@Nullable LostAnswer> lost = new AtomicReference<>();
    private volatile long delayNanos;
    private volatile boolean stalled;
    private volatile boolean refusing;

    /** An answer to lose: whatever the server says after a client sent that text. */
    record LostAnswer(String text, int skip, AtomicInteger seen, Gate reached) {}

    private FaultProxy(ServerSocket listener, InetSocketAddress target, String urlTail) {
        this.listener = listener;
        this.target = target;
        this.urlTail = urlTail;
    }

    /** A proxy in front of the server of a JDBC URL. */
    public static FaultProxy before(String jdbcUrl) throws IOException {
        Matcher url = URL.matcher(jdbcUrl);
        if (!url.matches()) {
            throw new IllegalArgumentException(
                    "A fault proxy needs a URL such as jdbc:postgresql://localhost:5432/name?user=me.");
        }
        ServerSocket listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        InetSocketAddress target = new InetSocketAddress(url.group(1), Integer.parseInt(url.group(2)));
        FaultProxy proxy = new FaultProxy(listener, target, url.group(3));
        Thread thread = new Thread(proxy::accept, proxy.name + "-accept");
        thread.setDaemon(true);
        thread.start();
        return proxy;
    }

    /** The URL that leads through this proxy to the same database. */
    public String jdbcUrl() {
        return "jdbc:postgresql://" + listener.getInetAddress().getHostAddress() + ":" + listener.getLocalPort() + "/"
                + urlTail;
    }

    /** Adds to each direction, so that a round trip takes twice as long; zero for none. */
    public void delayEachWay(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /** Resets every connection there is; new ones are served. */
    public void cut() {
        links.forEach(FaultLink::close);
    }

    /** Refuses new connections and resets those there are, as a server that is down does. */
    public void down() {
        refusing = true;
        cut();
    }

    /** Lets every link fall silent: nothing is forwarded or refused, and nothing is lost yet. */
    public void stall() {
        stalled = true;
    }

    /** Serves again: what was stalled flows, new connections are accepted. A lost answer stays lost. */
    public void heal() {
        stalled = false;
        refusing = false;
        lost.set(null);
    }

    /**
     * Loses the answer to the first client message that holds a text: the server gets the message and answers, then the link is
     * cut in both directions, so the client can't know. A statement that the driver has prepared travels without its text: put
     * {@code prepareThreshold=0} into the URL where that matters.
     *
     * @return a gate at which the arrival of the answer can be awaited
     */
    public Gate loseAnswerTo(String clientText) {
        return loseAnswerTo(clientText, 0);
    }

    /** As {@link #loseAnswerTo(String)}, but only after so many messages with the text got their answers. */
    public Gate loseAnswerTo(String clientText, int skip) {
        Gate reached = new Gate();
        reached.open();
        lost.set(new LostAnswer(clientText, skip, new AtomicInteger(), reached));
        return reached;
    }

    /** Connections right now. */
    public int connections() {
        return links.size();
    }

    /** Resets everything and stops listening. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            LOG.debug("The listener of {} could not be closed.", name, e);
        }
        cut();
    }

    long delayNanos() {
        return delayNanos;
    }

    boolean isStalled() {
        return stalled;
    }

    @Nullable
    LostAnswer lost() {
        return lost.get();
    }

    void forgetLost(LostAnswer answer) {
        lost.compareAndSet(answer, null);
    }

    void forget(FaultLink link) {
        links.remove(link);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                serve(listener.accept());
            } catch (IOException e) {
                LOG.debug("{} could not serve a connection.", name, e);
            }
        }
    }

    private void serve(Socket client) throws IOException {
        if (refusing) {
            client.setSoLinger(true, 0);
            client.close();
            return;
        }
        Socket server = new Socket();
        try {
            server.connect(target, 5_000);
        } catch (IOException e) {
            client.close();
            throw e;
        }
        FaultLink link = new FaultLink(this, client, server);
        links.add(link);
        link.start(name + "-" + numbers.incrementAndGet());
    }
}
