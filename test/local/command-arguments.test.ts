import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([
  ['bench/main.ts', 'npm run bench -- '],
  ['bench/main.ts', 'npm run costs -- '],
  ['bench/init-times.ts', 'npm run bench:init -- '],
  ['bench/simulation/main.ts', 'npm run simulate -- '],
  ['scripts/set-plan.ts', 'npm run set-plan -- '],
  ['scripts/add-developer.ts', 'npm run add-developer -- '],
])('2: %s, given an option that it does not know, says what it takes: %s…', (script, usage) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--nope'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^Unknown option '--nope'\n/);
  expect(stderr).toContain(usage);
  expect(stderr).not.toMatch(/^ +at /m);
});
