import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { raiseCredentialVersion, requireCredentialVersion } from '../../../shared/accounts/credentials.ts';
import { startSession } from '../../../shared/accounts/refresh-sessions.ts';
import type { SessionScope } from '../../../shared/accounts/sessions.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel } from '../../support/clients/client.ts';

const hex = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 24);
const refused = { code: 'INVALID_CREDENTIALS' };

let scope: SessionScope;
let userId: string;

beforeEach(() => {
  scope = projectScope(hex());
  userId = hex();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Opens a session with this credential version. */
const open = (version: number) =>
  startSession(scope, userId, { ip: '192.0.2.1', userAgent: 'test' }, [
    requireCredentialVersion(scope, userId, version),
  ]);

describe('a raised credential version', () => {
  test('401 for a sign-in with older credentials; newer and equal ones open a session', async () => {
    await expect(open(0)).resolves.toMatchObject({ userId });
    await raiseCredentialVersion(scope, userId, 5);
    await expect(open(4)).rejects.toMatchObject(refused);
    await expect(open(5)).resolves.toMatchObject({ userId });
    await expect(open(6)).resolves.toMatchObject({ userId });
  });

  test('401 when an overtaken change raises it late, whichever of 50 comes last', async () => {
    await raiseCredentialVersion(scope, userId, 5);
    await raiseCredentialVersion(scope, userId, 3);
    await expect(open(4)).rejects.toMatchObject(refused);
    await inParallel(50, (n) => raiseCredentialVersion(scope, userId, 50 - n));
    await expect(open(49)).rejects.toMatchObject(refused);
    await expect(open(50)).resolves.toMatchObject({ userId });
  });

  test('401 for two minutes, longer than any sign-in, and the item may expire then', async () => {
    await raiseCredentialVersion(scope, userId, 5);
    const now = clock.now();
    vi.spyOn(clock, 'now').mockReturnValue(now + 118_000);
    await expect(open(4)).rejects.toMatchObject(refused);
    vi.spyOn(clock, 'now').mockReturnValue(now + 122_000);
    await expect(open(4)).resolves.toMatchObject({ userId });
  });

  test('does not affect other users', async () => {
    await raiseCredentialVersion(scope, userId, 5);
    userId = hex();
    await expect(open(0)).resolves.toMatchObject({ userId });
  });
});
