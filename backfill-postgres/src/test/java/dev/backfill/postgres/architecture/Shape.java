package dev.backfill.postgres.architecture;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import dev.backfill.postgres.architecture.Sources.Source;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.Modifier;

/** Long methods and long constructors of parsed files. */
final class Shape extends TreeScanner<Void, Source> {

    private final List<String> longMethods = new ArrayList<>();
    private final List<String> longConstructors = new ArrayList<>();
    private final List<String> longRecords = new ArrayList<>();
    private final int mostLines;
    private final int mostParameters;

    private Shape(int mostLines, int mostParameters) {
        this.mostLines = mostLines;
        this.mostParameters = mostParameters;
    }

    static Shape of(Sources sources, int mostLines, int mostParameters) {
        Shape shape = new Shape(mostLines, mostParameters);
        sources.files().forEach(file -> shape.scan(file.unit(), file));
        return shape;
    }

    List<String> longMethods() {
        return longMethods;
    }

    List<String> longConstructors() {
        return longConstructors;
    }

    List<String> longRecords() {
        return longRecords;
    }

    @Override
    public Void visitMethod(MethodTree method, Source file) {
        String name = file.simpleName() + "." + method.getName();
        if (method.getBody() != null) {
            SourcePositions positions = Trees.instance(file.task()).getSourcePositions();
            long first = line(file, positions.getStartPosition(file.unit(), method.getBody()));
            long last = line(file, positions.getEndPosition(file.unit(), method.getBody()));
            if (last - first + 1 > mostLines) {
                longMethods.add(name + ": " + (last - first + 1));
            }
        }
        if (method.getReturnType() == null && method.getParameters().size() > mostParameters) {
            longConstructors.add(name + ": " + method.getParameters().size());
        }
        return super.visitMethod(method, file);
    }

    @Override
    public Void visitClass(ClassTree type, Source file) {
        if (type.getKind() == Tree.Kind.RECORD) {
            long components = type.getMembers().stream()
                    .filter(member -> member instanceof VariableTree field
                            && !field.getModifiers().getFlags().contains(Modifier.STATIC))
                    .count();
            if (components > mostParameters) {
                longRecords.add(type.getSimpleName() + ": " + components);
            }
        }
        return super.visitClass(type, file);
    }

    private static long line(Source file, long position) {
        return file.unit().getLineMap().getLineNumber(position);
    }
}
