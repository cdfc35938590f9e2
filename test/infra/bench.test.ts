import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ChartRow, drawChart } from '../../bench/chart.ts';
import type { Outcome } from '../../bench/compare.ts';
import { parseFlags } from '../../bench/flags.ts';
import { renderNeighbourSummary, renderPeers, renderSummary } from '../../bench/report.ts';
import { root } from '../../infra/build/function-files.ts';

const row = (ratio: number, aim?: number): ChartRow => ({
  area: 'documents',
  label: 'a < b & c',
  bars: [{ name: 'Basalt', ratio }],
  ...(aim !== undefined && { aim }),
});
const chart = (...rows: ChartRow[]): string => drawChart({ title: 'CPU', subtitle: 'shorter is better', rows });

test('bar is cut off and labelled when it is too long for the chart', () => {
  expect(chart(row(7.25))).toContain('>7.25 →</text>');
  expect(chart(row(1.25))).toContain('>1.25</text>');
});

test('name in a chart is escaped when it contains markup', () => {
  expect(chart(row(1))).toContain('>a &lt; b &amp; c</text>');
});

test('legend explains the target mark only when a row has a target', () => {
  expect(chart(row(1, 1.5))).toContain('>aim</text>');
  expect(chart(row(1))).not.toContain('>aim</text>');
});

test('table of other products is empty when none was measured', () => {
  expect(renderPeers([])).toEqual([]);
});

const sample = { client: 'wrk', perSecond: 1956, p50: 15.2, p95: 25.9, cpu: { client: 48, server: 395, engine: 401 } };
const outcome: Outcome = {
  operation: { name: 'create', area: 'documents' },
  samples: { bare: sample, basalt: sample },
  toBare: { basalt: 0.96 },
  cpuToBare: { server: {}, engine: {}, both: { basalt: 1.14 } },
  toPeers: { parse: { basalt: 1.8 }, pocketbase: {} },
} as Outcome;

test('summary has speed and CPU of a row, and no ratio when a product was not measured', () => {
  const [, , row = ''] = renderSummary([outcome]).split('\n');
  expect(row.split('|').map((cell) => cell.trim())).toEqual([
    '',
    'create',
    '1,956',
    '15.2 / 25.9',
    '1.14',
    '0.96',
    '1.80',
    '',
    '',
  ]);
});

test('summary of neighbours has a row for each kind of work', () => {
  const beside = { p95: 1, ratio: 9, noisePerSecond: { done: 1, refused: 0 } };
  const of = (row: 'get' | 'list', ratio: number) =>
    ({ noise: 'imports', row, quiet: 1, beside, besideEngine: { ...beside, ratio } }) as const;
  const [head = '', , row = ''] = renderNeighbourSummary([of('get', 1.8), of('list', 1.99)]).split('\n');
  expect(head).toMatch(/\| +get \| +list \|$/);
  expect(row).toMatch(/^\| imports +\| 1\.80 \| 1\.99 \|$/);
});

describe('options of npm run bench', () => {
  const { argv } = process;
  afterEach(() => {
    process.argv = argv;
    vi.restoreAllMocks();
  });

  test.each([
    ['--with=peers', 'Unknown value peers of --with'],
    ['--rounds=many', '--rounds must be a number, not many'],
  ])('%s exits with 2 and the reason', (option, reason) => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exit');
    });
    process.argv = [...argv.slice(0, 2), '--quick', option];
    expect(parseFlags).toThrow('exit');
    expect(exit).toHaveBeenCalledWith(2);
    expect(error).toHaveBeenCalledWith(expect.stringContaining(reason));
  });

  test('--quick --only measures five rounds of two contenders', () => {
    process.argv = [...argv.slice(0, 2), '--quick', '--only=get'];
    expect(parseFlags()).toMatchObject({ names: ['bare', 'basalt'], rounds: 5, seconds: 1, large: 0 });
  });
});

test.each([
  ['bench/results.md', 'summary'],
  ['bench/results.md', 'neighbours'],
  ['bench/results.md', 'bench'],
  ['bench/results.md', 'commands'],
])('%s has the generated part %s', async (name, part) => {
  const page = await readFile(path.join(root, name), 'utf8');
  expect(page.split(`<!-- ${part} -->\n`)).toHaveLength(2);
  expect(page.split(`\n<!-- /${part} -->`)).toHaveLength(2);
});
