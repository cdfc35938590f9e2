import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { requireProvider } from '../../../../shared/accounts/social/providers.ts';
import { socialProviderNames, socialProviders } from '../../../../shared/projects/social/providers.ts';
import { contract } from '../../../support/data/contract.ts';

const page = (name: string) => readFileSync(path.resolve(import.meta.dirname, '../../../../docs', name), 'utf8');

describe.each(socialProviderNames)('%s', (name) => {
  const { title, urls, profileUrls, profile, hiddenAddresses } = socialProviders[name];

  test('is requested over HTTPS only', () => {
    const addresses = Object.values({ ...urls, ...profileUrls });
    expect(addresses.filter((address) => new URL(address).protocol !== 'https:')).toEqual([]);
  });

  test('is found by its name, with the real addresses', () => {
    const provider = requireProvider(name);
    expect(provider).toMatchObject({ name, title, urls, profileUrls });
  });

  test('has no profile when its responses are empty', () => {
    expect(v.safeParse(profile, {}).success).toBe(false);
    expect(hiddenAddresses ?? '@').toMatch(/^@/);
  });
});

test('the reference lists the names of all providers in our order', () => {
  const provider = `- \`${socialProviderNames.join('`, `')}\`; or \`oidc:<name>\`.`;
  expect(contract.includes(provider), `the reference, "Social", must say: ${provider}`).toBe(true);
});

test('the guide names each of them', () => {
  const guide = page('guides/social-sign-in.md');
  const missing = socialProviderNames.filter((name) => !guide.includes(socialProviders[name].title));
  expect(missing, 'docs/guides/social-sign-in.md does not name them').toEqual([]);
});

test.each(['', 'GitHub', 'myspace', '__proto__', 'constructor', 'toString'])('404 UNKNOWN_PROVIDER for %j', (name) => {
  expect(() => requireProvider(name)).toThrow(expect.objectContaining({ code: 'UNKNOWN_PROVIDER' }));
});
