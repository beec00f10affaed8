package dev.backfill.admin.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Servers by name, from a file with one on a line: name, URL, and the file of its token where it has one of its own. */
final class Servers {

    private Servers() {}

    /**
     * One server.
     *
     * @param name what it is called
     * @param url where its API is mounted
     * @param tokenFile the file of its token; empty for the token that all share
     */
    record Server(String name, String url, String tokenFile) {}

    /** The servers of these names, or every one for {@code all}; throws for a name that the file does not hold. */
    static List<Server> of(Path file, List<String> names) throws IOException {
        Map<String, Server> known = new LinkedHashMap<>();
        for (String line : Files.readAllLines(file)) {
            String[] words = line.strip().split("\\s+");
            if (!words[0].isEmpty() && !words[0].startsWith("#")) {
                if (words.length < 2 || words.length > 3) {
                    throw new IOException("a line must hold a name, a URL and perhaps a token file");
                }
                known.put(words[0], new Server(words[0], words[1], words.length == 3 ? words[2] : ""));
            }
        }
        List<Server> found = new ArrayList<>();
        for (String name : names) {
            if (name.equals("all")) {
                found.addAll(known.values());
            } else if (known.containsKey(name)) {
                found.add(known.get(name));
            } else {
                throw new IOException("it has no server '" + name + "'");
            }
        }
        return found;
    }
}
