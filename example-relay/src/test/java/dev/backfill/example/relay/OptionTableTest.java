package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionTableTest {

    @Test
    void the_readme_lists_every_option_with_its_default_and_meaning() throws IOException {
        List<String> expected = Arrays.stream(RelayOption.values())
                .map(o -> "| `" + o.optionName() + "` | "
                        + o.byDefault().map(d -> "`" + d + "`").orElse("none") + " | " + o.meaning() + " |")
                .toList();
        List<String> table = Files.readAllLines(Path.of("README.md")).stream()
                .filter(line -> line.matches("\\| `[a-z-]+` \\|.*"))
                .toList();
        assertThat(table).isEqualTo(expected);
    }
}
