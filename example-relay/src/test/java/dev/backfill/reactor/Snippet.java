package dev.backfill.reactor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fenced {@code java} block of a document and the comment above it, which names the compiled source it is taken from:
 * {@code <!-- snippet: path/of/File.java#region -->}. In the source, {@code // region name} and {@code // endregion} stand
 * around the lines; regions nest, and indentation does not count.
 *
 * @param where file and line, for people
 * @param source {@code path#region}, or empty when the block has no such comment
 * @param text the lines between the fences
 */
record Snippet(String where, String source, List<String> text) {

    private static final Pattern BEGINS = Pattern.compile("\\s*// region (\\S+)\\s*");
    private static final Pattern ENDS = Pattern.compile("\\s*// endregion\\b.*");
    private static final Pattern MARK = Pattern.compile("<!-- snippet: (\\S+#\\S+) -->");

    static List<Snippet> of(Path document) {
        List<String> lines = Repository.lines(document);
        List<Snippet> snippets = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).strip().equals("```java")) {
                int end = i + 1;
                while (end < lines.size() && !lines.get(end).strip().equals("```")) {
                    end++;
                }
                Matcher mark = MARK.matcher(i == 0 ? "" : lines.get(i - 1).strip());
                String where = Repository.ROOT.relativize(document) + ":" + (i + 1);
                snippets.add(
                        new Snippet(where, mark.matches() ? mark.group(1) : "", dedented(lines.subList(i + 1, end))));
                i = end;
            }
        }
        return snippets;
    }

    /** The lines of the region that this snippet names; empty when there is none. */
    List<String> compiled() {
        Path file = Repository.ROOT.resolve(source.substring(0, source.indexOf('#')));
        if (!Files.isRegularFile(file)) {
            return List.of();
        }
        return region(Repository.lines(file), source.substring(source.indexOf('#') + 1));
    }

    static List<String> region(List<String> lines, String name) {
        List<String> region = new ArrayList<>();
        Deque<String> open = new ArrayDeque<>();
        for (String line : lines) {
            Matcher begins = BEGINS.matcher(line);
            if (begins.matches()) {
                open.push(begins.group(1));
            } else if (ENDS.matcher(line).matches()) {
                if (open.pop().equals(name)) {
                    return dedented(region);
                }
            } else if (open.contains(name)) {
                region.add(line);
            }
        }
        return List.of();
    }

    static List<String> dedented(List<String> lines) {
        int indent = lines.stream()
                .filter(line -> !line.isBlank())
                .mapToInt(line -> line.length() - line.stripLeading().length())
                .min()
                .orElse(0);
        return lines.stream()
                .map(line -> line.isBlank() ? "" : line.substring(indent).stripTrailing())
                .toList();
    }
}
