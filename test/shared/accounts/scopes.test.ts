import { expect, test } from 'vitest';
import { scopes, scopesOfRole } from '../../../shared/accounts/developers/scopes.ts';

test('an admin has all scopes except those of the account', () => {
  const without = scopes.filter((scope) => scope !== 'account:read');
  expect(scopesOfRole('admin')).toEqual(without);
  expect(scopes.filter((scope) => scope.startsWith('account:'))).toEqual(['account:read']);
});

test('a viewer reads, and writes nothing except links to files', () => {
  expect(scopesOfRole('viewer').filter((scope) => !scope.endsWith(':read'))).toEqual(['storage:write']);
  expect(scopesOfRole('viewer')).toHaveLength(scopes.filter((scope) => scope.endsWith(':read')).length);
});
