import { styleText } from 'node:util';
import type { Finding, Level } from './check.ts';

const colours = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;

/** A finding as one line, and what to do on a second one. */
export const lineOf = ({ name, level, detail, todo }: Finding): string => {
  const line = `${styleText(colours[level], level.padEnd(8))} ${name}: ${detail}`;
  return todo === undefined ? line : `${line}\n${' '.repeat(9)}${styleText('dim', todo)}`;
};

/** How many came out how: `21 ok, 1 warning, 0 failed`. */
export const summaryOf = (findings: readonly Finding[]): string => {
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const warnings = count('warning');
  return `${count('ok')} ok, ${warnings} warning${warnings === 1 ? '' : 's'}, ${count('failed')} failed`;
};
