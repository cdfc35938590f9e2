import { newSigningKey } from '../../../shared/accounts/tokens.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { signInMethods } from '../../../shared/projects/user-settings.ts';

/** A project with its own signing key. */
export const projectWithKey = async (id: string): Promise<Project> => ({
  id,
  name: 'test',
  ownerId: 'f'.repeat(24),
  plan: 'free',
  ownerKey: 'owner',
  ownerVerified: true,
  placement: { kind: 'managed', cell: 'main' },
  storage: { kind: 'managed' },
  siteUrl: null,
  allowedDomains: ['*'],
  allowPublicSignup: true,
  authEnabled: true,
  uploads: { users: false, maxBytes: 10_485_760, types: ['*/*'] },
  signingKeys: [await newSigningKey(id)],
  signIn: signInMethods(),
  hadAnonymous: false,
  socialProviders: {},
  sealedProviderApiKey: null,
  providerFromEmail: null,
});
