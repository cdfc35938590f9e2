import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What a test file imports: only directly, or everything. */
interface Imports {
  readonly direct: (file: string) => readonly string[];
  readonly all: (file: string) => readonly string[];
}

export const importsBelow = (root: string): Imports => {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known) return known;
    const text = readFileSync(path.join(root, file), 'utf8');
    const found = [...text.matchAll(/(?:from|import\(?) ?'(\.[^']+\.tsx?)'/g)].flatMap(([, specifier = '']) => {
      const target = path.join(path.dirname(file), specifier);
      return existsSync(path.join(root, target)) ? [target] : [];
    });
    imports.set(file, found);
    return found;
  };
  return {
    direct: importsOf,
    all: (file) => {
      const all = new Set([file]);
      for (const each of all) for (const next of importsOf(each)) all.add(next);
      return [...all];
    },
  };
};
