import { describe, expect, test } from 'vitest';
import { settingNames } from '../../infra/settings/settings.ts';
import { type Links, linksOf, refusedBetween } from './stack-links.ts';
import { everything } from './synthesis.ts';

type Choice = Readonly<Record<string, string>>;

/** Settings that have no effect alone, and the settings that they need. */
const givenAlong: Readonly<Record<string, readonly string[]>> = {
  apiCertificateArn: ['publicDomain', 'dashboardDomain'],
  filesCertificateArn: ['filesDomain'],
  consoleCertificateArn: ['consoleDomain'],
  hostedZoneName: ['hostedZoneId'],
  alarmEmail: ['monthlyBudget'],
};

const values: Choice = {
  ...everything,
  credentialRateLimit: '20',
  rateBlock: '10',
  realtime: 'off',
  publicUrl: 'https://front.example.com',
  dashboardApiUrl: 'https://front-dashboard.example.com',
};

/** Settings that rename stacks, or that can only be added later: see without-cloudfront.test.ts. */
const fixed = ['deployment', 'cloudFront'];

const changeable = settingNames.filter(
  (name) => name === 'alarmEmail' || (!fixed.includes(name) && !(name in givenAlong)),
);

/** These settings and the settings that they need. */
const choice = (names: readonly string[]): Choice => {
  const along = Object.keys(givenAlong).filter((name) => givenAlong[name]?.some((other) => names.includes(other)));
  return Object.fromEntries([...names, ...along].map((name) => [name, values[name] ?? '']));
};

const made = new Map<string, Links>();

/** The links with these settings; the same are synthesised once. */
const linksWith = (...names: readonly string[]): Links => {
  const key = [...names].sort().join();
  const links = made.get(key) ?? linksOf(choice(names));
  made.set(key, links);
  return links;
};

const asText = (links: Links): string =>
  JSON.stringify([...links].map(([name, { exports, imports }]) => [name, [...exports], [...imports]]));

const standard = linksWith();

/** Settings that alone change what a stack gives to others or takes of them. */
const linking = changeable.filter((name) => asText(linksWith(name)) !== asText(standard));
const pairs = linking.flatMap((one, at) => linking.slice(at + 1).map((other) => [one, other] as const));

const kept = [...standard.values()].flatMap(({ exports }) => [...exports]);

/** Exports that these settings remove or change. A stack that they omit stays as deployed. */
const missingIn = (links: Links): readonly string[] => {
  const stacks = new Map([...standard, ...links]);
  const there = new Map([...stacks.values()].flatMap(({ exports }) => [...exports]));
  return kept.flatMap(([name, value]) => (there.get(name) === value ? [] : name));
};

test('stack imports are the same when each area has one route', () => {
  expect(asText(linksOf({}, 'in full'))).toBe(asText(standard));
  expect(asText(linksOf(choice(changeable), 'in full'))).toBe(asText(linksWith(...changeable)));
});

test('check finds a stack that stops exporting an imported value', () => {
  const before: Links = new Map([
    ['Api', { exports: new Map([['Api:Url', '1']]), imports: new Set() }],
    ['Rows', { exports: new Map(), imports: new Set(['Api:Url']) }],
  ]);
  const exporting = (value?: string): Links =>
    new Map([['Api', { exports: new Map(value ? [['Api:Url', value]] : []), imports: new Set() }]]);
  expect(refusedBetween(before, exporting())).toEqual(['Rows imports Api:Url']);
  expect(refusedBetween(before, exporting('2'))).toEqual(['Rows imports Api:Url']);
  expect(refusedBetween(before, exporting('1'))).toEqual([]);
});

test('only settings of addresses, network and live updates change imports', () => {
  expect(linking).toEqual([
    'egress',
    'realtime',
    'dashboardUrl',
    'publicDomain',
    'filesDomain',
    'consoleDomain',
    'publicUrl',
  ]);
});

describe('exports of a default deployment stay', () => {
  test.each(changeable)('when the setting %s changes', (name) => {
    expect(missingIn(linksWith(name))).toEqual([]);
  });

  test.each(pairs)('when the settings %s and %s change', (one, other) => {
    expect(missingIn(linksWith(one, other))).toEqual([]);
  });

  test('when all settings change', () => {
    expect(missingIn(linksWith(...changeable))).toEqual([]);
  });
});

test.each(['Data', 'Queues', 'Files'])(
  '%s exports everything that functions may import, even when none does',
  (stack) => {
    const exportsOf = (links: Links) => [...(links.get(`Basalt-${stack}`)?.exports ?? [])].sort();
    expect(exportsOf(linksOf({}, 'without areas'))).toEqual(exportsOf(standard));
  },
);

describe('no stack loses an imported value when a setting is turned on and off', () => {
  const expectInPlace = (one: Links, other: Links): void => {
    expect(refusedBetween(one, other)).toEqual([]);
    expect(refusedBetween(other, one)).toEqual([]);
  };

  test.each(changeable)('%s', (name) => {
    expectInPlace(standard, linksWith(name));
  });

  test.each(pairs)('%s and %s, together and separately', (one, other) => {
    const both = linksWith(one, other);
    for (const fewer of [standard, linksWith(one), linksWith(other)]) expectInPlace(fewer, both);
    expectInPlace(linksWith(one), linksWith(other));
  });

  test.each(linking)('%s, with all other settings', (name) => {
    expectInPlace(linksWith(...changeable.filter((each) => each !== name)), linksWith(...changeable));
  });
});
