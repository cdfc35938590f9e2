/**
 * `npm run bench:init [-- --rounds 2] [prefix…]`: what a cold start of each bundled function costs: from the start of
 * its process until it asks the Lambda Runtime API for its first event, and from there to its first answer, connections
 * included. The better of the rounds. The first row is a function that does nothing; jobs are not called.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { type Bundle, bundleFunctions } from '../infra/build/bundle.ts';
import { functionFiles } from '../infra/build/function-files.ts';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { type Beginning, beginOnce } from './first-call.ts';
import { firstEvents } from './first-events.ts';
import { endProgress, progress } from './progress.ts';
import { makeBed } from './seed.ts';
import { median } from './statistics.ts';

const { values: flags, positionals: prefixes } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '2' } },
});
const rounds = Number(flags.rounds);
const empty: Bundle = { name: '(empty function)', bytes: 0, parts: [], native: false };
const directory = await mkdtemp(path.join(tmpdir(), 'basalt-init-'));
const folder = path.join(directory, 'functions');

const minimum = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

interface Row {
  readonly bundle: Bundle;
  readonly init: number;
  readonly call: number | undefined;
  readonly status: number | undefined;
}

const rowOf = (bundle: Bundle, measured: readonly Beginning[]): Row => ({
  bundle,
  init: minimum(measured.map(({ init }) => init)) ?? 0,
  call: minimum(measured.map(({ call }) => call)),
  status: measured[0]?.status,
});

const cell = (value: number | undefined, width: number): string => (value?.toFixed(0) ?? '').padStart(width);

const print = (rows: readonly Row[]): void => {
  const width = Math.max(...rows.map(({ bundle }) => bundle.name.length));
  const line = (name: string, { init, call }: Pick<Row, 'init' | 'call'>, bytes: number, status = ''): string =>
    `${name.padEnd(width)}  ${cell(init, 7)}  ${cell(call, 10)}  ${status.padStart(6)}  ${cell(bytes / 1024, 6)}`;
  const areas = new Map(functionFiles().map(({ name, file }) => [name, path.dirname(file).replace('functions/', '')]));
  console.log(`${'function'.padEnd(width)}  init ms  1st call ms  status     KiB`);
  for (const [area, members] of Map.groupBy(rows, ({ bundle }) => areas.get(bundle.name) ?? '')) {
    if (area !== '') {
      const calls = members.flatMap(({ call }) => call ?? []);
      const middle = {
        init: median(members.map(({ init }) => init)),
        call: calls.length > 0 ? median(calls) : undefined,
      };
      const bytes = median(members.map(({ bundle }) => bundle.bytes));
      console.log(`\n${styleText('bold', line(`${area}: median of ${members.length}`, middle, bytes))}`);
    }
    for (const row of members) {
      console.log(line(row.bundle.name, row, row.bundle.bytes, row.status === undefined ? '' : String(row.status)));
    }
  }
};

const stack = await startStack({
  ...parseSettings({ RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', BASALT_DIR: path.join(directory, 'stack') }),
  port: 0,
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
try {
  progress('bundling');
  const built = await bundleFunctions(folder, prefixes.length === 0 ? {} : { prefixes });
  await mkdir(path.join(folder, empty.name));
  await writeFile(path.join(folder, empty.name, 'index.mjs'), 'export const handler = async () => {};\n');
  const bundles = [empty, ...built];
  const events = firstEvents(await makeBed(stack.dashboardUrl, ['posts']));
  const measured = new Map(bundles.map(({ name }) => [name, [] as Beginning[]]));
  for (let round = 1; round <= rounds; round++) {
    let at = 0;
    for (const [name, beginnings] of measured) {
      progress(`round ${round} of ${rounds}: ${++at} of ${measured.size}, ${name}`);
      beginnings.push(await beginOnce(name, folder, stack.env, events.get(name)));
    }
  }
  endProgress();
  print(bundles.map((bundle) => rowOf(bundle, measured.get(bundle.name) ?? [])));
} finally {
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
