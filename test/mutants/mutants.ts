import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { API } from 'typescript/unstable/sync';
import type { Area } from './areas.ts';
import { type Mutation, mutationsOf } from './mutations.ts';

export const root = path.resolve(import.meta.dirname, '../..');

export interface Mutant extends Mutation {
  /** From 1; the switch of this run. */
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** The source lines without and with the change, in one line. */
  readonly before: string;
  readonly changed: string;
}

/** A mutant that cannot matter, by its code, and why. */
interface Harmless {
  readonly file: string;
  readonly before: string;
  readonly changed: string;
  readonly why: string;
}

const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

const described = (file: string, text: string, mutation: Mutation): Omit<Mutant, 'id'> => {
  const start = text.lastIndexOf('\n', mutation.start - 1) + 1;
  const next = text.indexOf('\n', mutation.end);
  const end = next < 0 ? text.length : next;
  return {
    ...mutation,
    file,
    line: text.slice(0, mutation.start).split('\n').length,
    before: inOneLine(text.slice(start, end)),
    changed: inOneLine(text.slice(start, mutation.start) + mutation.after + text.slice(mutation.end, end)),
  };
};

/** All mutants of files, in the order of the files. */
export const mutantsOf = ({ files }: Pick<Area, 'files'>, generic: boolean): readonly Mutant[] => {
  const api = new API({ cwd: root });
  try {
    const project = api.updateSnapshot({ openProjects: [path.join(root, 'tsconfig.json')] }).getProjects()[0];
    const names = globSync(files, { cwd: root }).sort();
    const all = names.flatMap((file) => {
      const source = project?.program.getSourceFile(path.join(root, file));
      if (!project || !source) throw new Error(`${file} is not part of the project`);
      return mutationsOf(source, project.checker, generic).map((each) => described(file, source.text, each));
    });
    return all.map((each, at) => ({ ...each, id: at + 1 }));
  } finally {
    api.close();
  }
};

/** `file:line` of each line that differs from the main branch. */
export const changedLines = (): ReadonlySet<string> => {
  const output = execFileSync('git', ['diff', '-U0', '--no-prefix', 'main'], { cwd: root, encoding: 'utf8' });
  const lines = new Set<string>();
  let file = '';
  for (const line of output.split('\n')) {
    if (line.startsWith('+++ ')) file = line.slice(4);
    const [, first, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? /.exec(line) ?? [];
    for (let at = 0; first !== undefined && at < Number(count); at++) lines.add(`${file}:${Number(first) + at}`);
  }
  return lines;
};

/** The mutants that are known to change nothing that matters; an entry without a mutant is an error. */
export const harmlessOf = (mutants: readonly Mutant[], files: ReadonlySet<string>): ReadonlyMap<Mutant, string> => {
  const listed = JSON.parse(readFileSync(path.join(import.meta.dirname, 'harmless.json'), 'utf8')) as Harmless[];
  return new Map(
    listed
      .filter(({ file }) => files.has(file))
      .flatMap(({ file, before, changed, why }) => {
        const fitting = mutants.filter(
          (mutant) => mutant.file === file && mutant.before === before && mutant.changed === changed,
        );
        if (fitting.length === 0)
          throw new Error(`harmless.json lists a mutant that no longer exists: ${file}: ${changed}`);
        return fitting.map((mutant) => [mutant, why] as const);
      }),
  );
};
