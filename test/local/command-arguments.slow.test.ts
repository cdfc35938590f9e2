import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

/** All commands except `format`, which is the linter itself. */
const commands = Object.entries(manifest.scripts).filter(([name]) => name !== 'format' && !name.startsWith('pre'));

const run = (command: string, option: string) => {
  const PATH = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
  return spawnSync('sh', ['-c', `${command} ${option}`], { encoding: 'utf8', env: { ...process.env, PATH } });
};

describe.each(commands)('npm run %s', (name, command) => {
  test('prints its usage and does nothing when called with --help', () => {
    const { status, stdout, stderr } = run(command, '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage:\s+npm /);
    expect(stdout).toContain(name);
    expect(stdout.split('\n').length).toBeLessThan(25);
  });

  test('exits with 2 and its usage when an option is unknown', () => {
    const { status, stdout, stderr } = run(command, '--nope');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^Unknown option '--nope'\nUsage:\s+npm /);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

test.each([
  ['deploy', '-c deployment=Tried --profil ops', '--profil'],
  ['synth', '--all', '--all'],
] as const)('npm run %s -- %s exits with 2 when the CDK does not know the option', (name, option, unknown) => {
  const { status, stderr } = run(manifest.scripts[name], option);
  expect(status).toBe(2);
  expect(stderr).toContain(`Unknown option '${unknown}'\n`);
});
