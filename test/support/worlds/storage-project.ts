import { randomBytes } from 'node:crypto';
import type { PlanName, Project, StoragePlace } from '../../../shared/projects/project.ts';
import { signInMethods } from '../../../shared/projects/sign-in-methods.ts';

/** A project of a test's own, for what is known of files by the project's id alone; it has no record. */
export const storageProject = (plan: PlanName = 'free', storage: StoragePlace = { kind: 'managed' }): Project => ({
  id: randomBytes(12).toString('hex'),
  name: 'test',
  ownerId: 'f'.repeat(24),
  plan,
  ownerKey: 'owner',
  ownerVerified: true,
  placement: { kind: 'managed', cell: 'main' },
  storage,
  siteUrl: null,
  allowedDomains: ['*'],
  allowPublicSignup: true,
  authEnabled: true,
  signingKeys: [],
  signIn: signInMethods(),
  hadAnonymous: false,
  uploads: { users: false, maxBytes: 10_485_760, types: ['*/*'] },
  socialProviders: {},
  sealedProviderApiKey: null,
  providerFromEmail: null,
});
