package dev.backfill.postgres.architecture;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The main sources of the modules, parsed and not compiled.
 *
 * @param files each file
 */
record Sources(List<Source> files) {

    /**
     * One file.
     *
     * @param path where it is
     * @param text what stands there
     * @param unit the same, parsed
     * @param task the parser, for positions
     */
    record Source(Path path, String text, CompilationUnitTree unit, JavacTask task) {

        String packageName() {
            return unit.getPackageName().toString();
        }

        String simpleName() {
            return path.getFileName().toString().replace(".java", "");
        }

        int lines() {
            return (int) text.lines().count();
        }

        boolean isDescription() {
            return simpleName().equals("package-info");
        }
    }

    static Sources of(String module) {
        Path root = Path.of("..", module, "src", "main", "java").normalize();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (Stream<Path> tree = Files.walk(root);
                StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<Path> paths = tree.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList();
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(paths));
            List<Source> files = new ArrayList<>();
            List<? extends CompilationUnitTree> units =
                    StreamSupport.stream(task.parse().spliterator(), false).toList();
            for (CompilationUnitTree unit : units) {
                Path path = Path.of(unit.getSourceFile().toUri());
                files.add(new Source(path, Files.readString(path), unit, task));
            }
            return new Sources(List.copyOf(files));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
