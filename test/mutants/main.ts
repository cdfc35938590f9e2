import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { endProgress, progress } from '../../bench/progress.ts';
import { endWithNpm, requireNode } from '../../infra/local/processes.ts';
import { exitWithUsage, readArguments } from '../../scripts/read-arguments.ts';
import { seededRandom } from '../histories/random.ts';
import { areas } from './areas.ts';
import { importsBelow } from './imports.ts';
import { aliveOf, type Entry } from './journal.ts';
import { changedLines, harmlessOf, type Mutant, mutantsOf, root } from './mutants.ts';
import { Laboratory } from './run.ts';

requireNode();
const usage = `Usage: npm run test:mutants -- --area=${Object.keys(areas).join('|')}
       [--file=<part>] [--operator=<part>] [--tests=<part>] [--changed]
       [--sample=<n>] [--seed=<text>] [--minutes=<n>] [--seconds=<n>] [--generic] [--list] [--directory=<folder>]
Changes the code of an area in one place at a time (a mutant), in a copy of the working tree, and repeats each test for
each mutant that it reaches. A mutant that no test notices survives: a test is missing, or the code is not needed.
  --file       only mutants whose file:line contains this text
  --operator   only mutants of an operator, such as condition, filter, middleware, swap or check
  --tests      only test files whose paths contain this text, such as test/shared/
  --changed    only lines that differ from the branch main
  --sample     only this many mutants
  --seed       chooses the mutants of a sample (default: 1)
  --minutes    ends after this time; a mutant that then lacks some tests is unfinished
  --seconds    of tests for each mutant (default: 40)
  --generic    Stryker's operators instead of those for access, single use and quotas; always in the area shared
  --list       prints the mutants and runs nothing
  --directory  receives <area>.jsonl, a line for each mutant (default: .mutants)
Exits with 1 if a mutant survives that test/mutants/harmless.json does not explain.`;
const { values } = readArguments(usage, {
  options: {
    area: { type: 'string' },
    file: { type: 'string', default: '' },
    changed: { type: 'boolean', default: false },
    sample: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
    seconds: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    generic: { type: 'boolean', default: false },
    operator: { type: 'string', default: '' },
    tests: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    directory: { type: 'string', default: path.join(root, '.mutants') },
  },
});
const name = values.area ?? '';
const area = areas[name] ?? exitWithUsage(`--area must be ${Object.keys(areas).join(', ')}\n${usage}`);
endWithNpm();

/** In an order that the seed chooses. */
const shuffled = (all: readonly Mutant[]): readonly Mutant[] => {
  const random = seededRandom(values.seed);
  const order = new Map(all.map((mutant) => [mutant, random(2 ** 31)]));
  return all.toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0));
};

const isGeneric = values.generic || name === 'shared';
const everyMutant = mutantsOf(area, isGeneric);
const harmless = isGeneric ? new Map() : harmlessOf(everyMutant, new Set(everyMutant.map(({ file }) => file)));
const changed = values.changed ? changedLines() : undefined;
const asked = everyMutant.filter(
  (mutant) =>
    `${mutant.file}:${mutant.line}`.includes(values.file) &&
    mutant.operator.includes(values.operator) &&
    !harmless.has(mutant) &&
    (!changed || changed.has(`${mutant.file}:${mutant.line}`)),
);
const chosen = shuffled(asked).slice(0, Number(values.sample ?? asked.length));
const place = ({ file, line, operator, before, changed: after }: Mutant): string =>
  `${file}:${line} ${operator}\n  - ${before}\n  + ${after}`;
if (values.list) {
  const total = `${chosen.length} mutants of ${everyMutant.length}; ${harmless.size} are harmless`;
  await new Promise((resolve) => process.stdout.write(`${[...chosen.map(place), total].join('\n')}\n`, resolve));
  process.exit(0);
}

const laboratory = new Laboratory(everyMutant);
for (const event of ['exit', 'SIGINT', 'SIGTERM'] as const) {
  process.once(event, () => {
    laboratory.end();
    if (event !== 'exit') process.exit(1);
  });
}
mkdirSync(values.directory, { recursive: true });

const imports = importsBelow(root);
const mutated = new Set(chosen.map(({ file }) => file));
const isMutated = (file: string): boolean => mutated.has(file);
const globbed = (patterns: readonly string[]): readonly string[] =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).sort());
const unit = globbed(['test/shared/**/*.test.ts', 'test/{schedules,fuzz}/**/*.test.ts']).filter((file) =>
  imports.all(file).some(isMutated),
);
const direct = unit.filter((file) => imports.direct(file).some(isMutated));
const ids = chosen.map(({ id }) => id);
const end = performance.now() + Number(values.minutes) * 60_000;

const watch = (entries: readonly Entry[]): void => {
  const { file, test } = entries.at(-1) ?? {};
  const finished = entries.filter(({ state }) => state === 'done').length;
  progress(`${finished} files, ${aliveOf(entries, ids).size} of ${ids.length} mutants left, ${file} > ${test ?? ''}`);
};
// First the tests of the changed files, so that few mutants are left for the others.
const groups = [direct, globbed(area.tests), unit.filter((file) => !direct.includes(file))];
for (const files of groups) {
  const asked = [...new Set(files)].filter((file) => file.includes(values.tests));
  await laboratory.repeat(asked, { ids, maxSeconds: Number(values.seconds) }, end, watch);
}
const { entries } = laboratory;
for (const { file, test, message } of entries.filter(({ state }) => state === 'broken'))
  console.log(`not used, because it fails on the copy without a mutant: ${file} > ${test}: ${message}`);

/** Files that run with a mutant from their start: it acts outside of tests, or the test cannot be repeated. */
const maxWholeFiles = 3;
const isUnit = (file: string): boolean => /^test\/shared\//.test(file);

type State = 'killed' | 'survived' | 'timeout' | 'not reached' | 'unfinished';
interface Judgement {
  readonly state: State;
  /** Runs of tests with the mutant. */
  readonly runs: number;
  readonly by?: string;
}

const judge = async (mutant: Mutant): Promise<Judgement> => {
  const own = entries.filter(({ id }) => id === mutant.id);
  const runs = own.filter(({ state }) => state === 'begun').length;
  const killer = own.find(({ state }) => state === 'killed' || state === 'timeout');
  if (killer) {
    const { state, file, test, message } = killer;
    return { state: state === 'timeout' ? state : 'killed', runs, by: `${file} > ${test}: ${message}` };
  }
  const whole = [
    ...new Set(own.flatMap(({ state, file }) => (state === 'unsure' || state === 'outside' ? [file] : []))),
  ]
    .sort((one, other) => Number(isUnit(other)) - Number(isUnit(one)))
    .slice(0, maxWholeFiles);
  for (const file of whole) {
    if (performance.now() > end) return { state: 'unfinished', runs };
    progress(`${mutant.file}:${mutant.line} from the start of ${file}`);
    const failed = await laboratory.whole(mutant, file, end);
    if (failed !== undefined && performance.now() < end) return { state: 'killed', runs, by: `${file} > ${failed}` };
  }
  if (performance.now() > end) return { state: 'unfinished', runs };
  return { state: runs + whole.length > 0 ? 'survived' : 'not reached', runs };
};

const counts: Record<State, number> = { killed: 0, timeout: 0, survived: 0, 'not reached': 0, unfinished: 0 };
const lines: string[] = [];
for (const mutant of chosen) {
  const judgement = await judge(mutant);
  counts[judgement.state] += 1;
  const { file, line, operator, before, changed: after } = mutant;
  lines.push(`${JSON.stringify({ ...judgement, file, line, operator, before, after })}\n`);
  if (['survived', 'not reached'].includes(judgement.state)) console.log(`${judgement.state}: ${place(mutant)}`);
}
writeFileSync(path.join(values.directory, `${name}.jsonl`), lines.join(''));
endProgress();
laboratory.end();
const columns = {
  mutants: everyMutant.length,
  run: chosen.length - counts.unfinished,
  ...counts,
  harmless: harmless.size,
};
console.log(`area        ${Object.keys(columns).join('  ')}`);
const cells = Object.entries(columns).map(([column, count]) => String(count).padStart(column.length));
console.log(`${name.padEnd(11)} ${cells.join('  ')}  (seed ${values.seed})`);
process.exit(counts.survived + counts['not reached'] > 0 ? 1 : 0);
