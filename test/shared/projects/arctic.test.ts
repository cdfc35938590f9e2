import * as arctic from 'arctic';
import { expect, test } from 'vitest';
import { type SocialProviderName, socialProviders } from '../../../shared/projects/social/providers.ts';

type Url = (verifier: string, scopes: string[]) => URL;

const [id, secret, back] = ['id', 'secret', 'https://app.example.com/callback'];

/** The address of the page of each provider that arctic has, as it makes it. */
const made: Readonly<Partial<Record<SocialProviderName, Url>>> = {
  github: (_, scopes) => new arctic.GitHub(id, secret, back).createAuthorizationURL('s', scopes),
  google: (verifier, scopes) => new arctic.Google(id, secret, back).createAuthorizationURL('s', verifier, scopes),
  microsoft: (verifier, scopes) =>
    new arctic.MicrosoftEntraId('common', id, secret, back).createAuthorizationURL('s', verifier, scopes),
  apple: (_, scopes) => new arctic.Apple(id, 'team', 'key', new Uint8Array(), back).createAuthorizationURL('s', scopes),
  gitlab: (_, scopes) => new arctic.GitLab('https://gitlab.com', id, secret, back).createAuthorizationURL('s', scopes),
  discord: (verifier, scopes) => new arctic.Discord(id, secret, back).createAuthorizationURL('s', verifier, scopes),
  facebook: (_, scopes) => new arctic.Facebook(id, secret, back).createAuthorizationURL('s', scopes),
  linkedin: (_, scopes) => new arctic.LinkedIn(id, secret, back).createAuthorizationURL('s', scopes),
  twitch: (_, scopes) => new arctic.Twitch(id, secret, back).createAuthorizationURL('s', scopes),
  spotify: (verifier, scopes) => new arctic.Spotify(id, secret, back).createAuthorizationURL('s', verifier, scopes),
  slack: (_, scopes) => new arctic.Slack(id, secret, back).createAuthorizationURL('s', scopes),
};

/** Facebook's address names a version of its API. */
const unversioned = (address: string): string => address.replace(/\/v\d+\.\d+\//, '/');

test.each(Object.entries(made))('%s has the address and the PKCE setting of arctic', (name, url) => {
  const { urls, scopes, hasPkce } = socialProviders[name as SocialProviderName];
  const theirs = url('v'.repeat(43), [...scopes]);
  expect(unversioned(theirs.origin + theirs.pathname)).toBe(unversioned(urls.authorization));
  // GitHub and GitLab take PKCE by now, which arctic does not send to them.
  if (name !== 'github' && name !== 'gitlab') expect(theirs.searchParams.has('code_challenge')).toBe(hasPkce);
});
