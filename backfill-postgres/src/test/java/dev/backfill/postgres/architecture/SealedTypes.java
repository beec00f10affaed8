package dev.backfill.postgres.architecture;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.InstanceOfTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeCastTree;
import com.sun.source.util.TreeScanner;
import dev.backfill.postgres.architecture.Sources.Source;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Modifier;

/**
 * Finds {@code instanceof} and casts to a case of one of our sealed types. A case that is added later passes through such a chain
 * unseen; {@code match} does not compile without it. The file that declares a sealed type may ask, because {@code match} is there.
 */
final class SealedTypes {

    // The cases by their sealed type.
    private final Map<String, Set<String>> cases = new HashMap<>();

    SealedTypes(List<Source> files) {
        files.forEach(file -> new TreeScanner<Void, Void>() {
            @Override
            public Void visitClass(ClassTree type, Void nothing) {
                if (type.getModifiers().getFlags().contains(Modifier.SEALED)) {
                    Set<String> known =
                            cases.computeIfAbsent(type.getSimpleName().toString(), name -> new HashSet<>());
                    type.getMembers().stream()
                            .filter(ClassTree.class::isInstance)
                            .map(member -> ((ClassTree) member).getSimpleName().toString())
                            .forEach(known::add);
                    type.getPermitsClause().forEach(permitted -> known.add(permitted.toString()));
                }
                return super.visitClass(type, null);
            }
        }.scan(file.unit(), null));
    }

    Set<String> names() {
        return cases.keySet();
    }

    /** Each place in the file that asks which case a value is, other than by {@code match}. */
    List<String> askedIn(Source file) {
        List<String> found = new ArrayList<>();
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitInstanceOf(InstanceOfTree asked, Void nothing) {
                Tree type = asked.getPattern() == null ? asked.getType() : asked.getPattern();
                add(type.toString().replaceFirst("\\s+\\w+$", ""));
                return super.visitInstanceOf(asked, null);
            }

            @Override
            public Void visitTypeCast(TypeCastTree cast, Void nothing) {
                // With type arguments it names the key's type, which erasure took: the case is known already.
                if (!(cast.getType() instanceof ParameterizedTypeTree)) {
                    add(cast.getType().toString());
                }
                return super.visitTypeCast(cast, null);
            }

            private void add(String type) {
                String raw = type.replaceAll("<.*>", "");
                if (isCase(raw, file)) {
                    found.add(file.simpleName() + ": " + raw);
                }
            }
        }.scan(file.unit(), null);
        return found;
    }

    private boolean isCase(String type, Source file) {
        return cases.entrySet().stream()
                .filter(owner -> !owner.getKey().equals(file.simpleName()))
                .anyMatch(owner -> owner.getValue().stream()
                        .anyMatch(name -> (type.equals(name) && isKnownAs(owner.getKey(), name, file))
                                || type.endsWith(owner.getKey() + "." + name)));
    }

    /** Whether the simple name stands for that case in the file: imported, or in the same package. */
    private static boolean isKnownAs(String owner, String name, Source file) {
        return file.unit().getImports().stream()
                .map(ImportTree::getQualifiedIdentifier)
                .map(Object::toString)
                .anyMatch(imported -> imported.endsWith("." + owner + "." + name)
                        || (imported.startsWith("dev.backfill.") && imported.endsWith("." + name)));
    }
}
