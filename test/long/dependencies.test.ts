import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

interface Package {
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

/** Licences that may be shipped with only the text of the licence. */
const shipped = new Set(['MIT', 'MIT-0', 'Apache-2.0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Unlicense']);

/** Further licences for packages that only build and test the service. The local MongoDB (SSPL) is never deployed. */
const tools = new Set([...shipped, 'CC0-1.0', 'BlueOak-1.0.0', 'MPL-2.0', 'Zlib', 'SSPL-1.0']);

/**
 * Further licence for libvips, which sharp loads as a shared library. It is shipped unchanged and users can replace it.
 */
const libraries = new Set([...shipped, 'LGPL-3.0-or-later']);

const allowedOf = (name: string, dev: boolean): ReadonlySet<string> => {
  if (dev) return tools;
  return name.startsWith('node_modules/@img/sharp-') ? libraries : shipped;
};

/** `(MIT OR GPL-3.0)` needs one allowed licence, `(MIT AND Zlib)` needs all of them. */
const isAllowed = (licence: string, allowed: ReadonlySet<string>): boolean => {
  const plain = licence.replace(/^\((.*)\)$/, '$1');
  if (plain.includes(' OR ')) return plain.split(' OR ').some((one) => isAllowed(one, allowed));
  return plain.split(' AND ').every((one) => allowed.has(one));
};

test('every shipped package and every tool has an allowed licence', async () => {
  const { packages } = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Package>>;
  };
  const installed = Object.entries(packages).filter(([name, { link }]) => name !== '' && !link);
  const refused = installed.flatMap(([name, { license = 'none', dev = false }]) =>
    isAllowed(license, allowedOf(name, dev)) ? [] : `${name}: ${license}`,
  );
  process.stdout.write(`licences of ${installed.length} packages looked at\n`);
  expect(refused).toEqual([]);
});

const npm = process.env.npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];

/** Returns the output of `npm audit` for any exit code. */
const audit = (): Promise<string> =>
  new Promise((resolve) => {
    const [command = 'npm', ...args] = [...npm, 'audit', '--omit=dev', '--audit-level=high', '--json'];
    execFile(command, args, { cwd: root, timeout: 60_000, maxBuffer: 1 << 26 }, (_error, stdout) => resolve(stdout));
  });

interface Advice {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
}

const read = (text: string): Advice => {
  try {
    return JSON.parse(text) as Advice;
  } catch {
    return {};
  }
};

test('no shipped package has a known vulnerability of high severity', async ({ skip }) => {
  const { vulnerabilities, message = 'no answer' } = read(await audit());
  if (!vulnerabilities) {
    // Without a response there is no result, so the test is skipped.
    return skip(`not asked, as the registry does not answer: ${message.replace(/https?:\S+/g, 'the registry')}`);
  }
  const serious = Object.entries(vulnerabilities).filter(([, { severity }]) => /^(high|critical)$/.test(severity));
  process.stdout.write(`known vulnerabilities: ${Object.keys(vulnerabilities).length}, serious: ${serious.length}\n`);
  expect(serious.map(([name]) => name)).toEqual([]);
});
