package dev.backfill.internal;

/**
 * Makes any text safe to store, log and show (AU-5): bounded, one line, no control characters, no NUL, no lone surrogates, no
 * characters that reorder what stands beside them.
 *
 * @since 0.1
 */
public final class BoundedText {

    private static final int REPLACEMENT = 0xFFFD;

    private BoundedText() {}

    /**
     * Returns the text with every unsafe character replaced and cut to a length that includes the ellipsis.
     *
     * @param text any text
     * @param maxChars most UTF-16 units of the result, at least 1
     */
    public static String clean(String text, int maxChars) {
        StringBuilder out = new StringBuilder(Math.min(text.length(), maxChars));
        int at = 0;
        while (at < text.length()) {
            int point = text.codePointAt(at);
            int width = Character.charCount(point);
            if (out.length() + width > maxChars - (at + width < text.length() ? 1 : 0)) {
                return out.append('…').toString();
            }
            out.appendCodePoint(safe(point));
            at += width;
        }
        return out.toString();
    }

    private static int safe(int point) {
        if (point == '\n' || point == '\r' || point == '\t') {
            return ' ';
        }
        return switch (Character.getType(point)) {
            case Character.CONTROL, Character.SURROGATE, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                REPLACEMENT;
            // Bidirectional marks can make a log line or a table cell read as something else; a joiner in an emoji
            // can't.
            case Character.FORMAT -> point == 0x200D || point == 0x200C ? point : REPLACEMENT;
            default -> point;
        };
    }
}
