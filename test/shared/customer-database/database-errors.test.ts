import { afterEach, describe, expect, test, vi } from 'vitest';

const deniedBy = async (host: string, addresses: Readonly<Record<string, string>>): Promise<string> => {
  for (const [name, address] of Object.entries(addresses)) vi.stubEnv(name, address);
  vi.resetModules();
  const { accessDenied } = await import('../../../shared/customer-database/verification.ts');
  return accessDenied(host).message;
};

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('400 DATABASE_ACCESS_DENIED', () => {
  const fixed = { VERIFIER_IP_A: '192.0.2.1', VERIFIER_IP_B: '192.0.2.2' };

  test('names both addresses and the provider, in the words of the specification, when the addresses are fixed', async () => {
    expect(await deniedBy('c0.abc.mongodb.net', fixed)).toBe(
      'Access Denied: Please whitelist Server IPs 192.0.2.1, 192.0.2.2 in MongoDB Atlas',
    );
  });

  test.each([{}, { VERIFIER_IP_A: '192.0.2.1' }])(
    'explains what to do when there are no fixed addresses: %j',
    async (addresses) => {
      expect(await deniedBy('c0.abc.mongodb.net', addresses)).toBe(
        'Access Denied: this service connects from changing addresses. Let in connections from anywhere (0.0.0.0/0) in MongoDB Atlas: user, password and TLS protect the database. Or ask the operator of the service for fixed addresses.',
      );
      expect(await deniedBy('db.example.com', addresses)).toContain('in your database provider:');
    },
  );
});
