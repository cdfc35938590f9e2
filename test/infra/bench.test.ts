import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type ChartRow, drawChart } from '../../bench/chart.ts';
import { parseFlags } from '../../bench/flags.ts';
import { renderPeers } from '../../bench/report.ts';
import { root } from '../../infra/build/function-files.ts';

const row = (ratio: number, aim?: number): ChartRow => ({
  area: 'documents',
  label: 'a < b & c',
  bars: [{ name: 'Basalt', ratio }],
  ...(aim !== undefined && { aim }),
});
const chart = (...rows: ChartRow[]): string => drawChart({ title: 'CPU', subtitle: 'shorter is better', rows });

test('a bar too long for the chart is cut off and says how long it is', () => {
  expect(chart(row(7.25))).toContain('>7.25 →</text>');
  expect(chart(row(1.25))).toContain('>1.25</text>');
});

test('names in a chart are text, not markup', () => {
  expect(chart(row(1))).toContain('>a &lt; b &amp; c</text>');
});

test('a chart has the mark of the aim in its legend only where there is an aim', () => {
  expect(chart(row(1, 1.5))).toContain('>aim</text>');
  expect(chart(row(1))).not.toContain('>aim</text>');
});

test('nothing stands beside peers that were not there', () => {
  expect(renderPeers([])).toEqual([]);
});

test('--with takes those that there are', () => {
  const { argv } = process;
  try {
    process.argv = [...argv.slice(0, 2), '--quick', '--with=peers'];
    expect(parseFlags).toThrow('--with takes counted, blocks, parse, pocketbase, not peers');
    process.argv = [...argv.slice(0, 2), '--quick', '--only=get'];
    expect(parseFlags()).toMatchObject({ names: ['bare', 'basalt'], rounds: 5, seconds: 1, large: 0 });
  } finally {
    process.argv = argv;
  }
});

test.each(['bench', 'commands'] as const)('docs/speed.md has the part %s that a run writes', async (part) => {
  const page = await readFile(path.join(root, 'docs/speed.md'), 'utf8');
  expect(page.split(`<!-- ${part} -->\n`)).toHaveLength(2);
  expect(page.split(`\n<!-- /${part} -->`)).toHaveLength(2);
});
