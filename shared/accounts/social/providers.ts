import type { GenericSchema } from 'valibot';
import { socialSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import type { SocialProviderName } from '../../projects/social-providers.ts';
import { githubProfile, googleProfile, type SocialProfile } from './profile.ts';

/** All that one provider differs in from another; the flow is the same. */
export interface IdentityProvider {
  readonly name: SocialProviderName;
  /** Its name for people. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** Where the browser is sent, and where codes are redeemed. */
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** Name → what to read with the token; all the answers together have to fit `profile`. */
  readonly profileUrls: Readonly<Record<string, string>>;
  readonly profile: GenericSchema<unknown, SocialProfile>;
}

const github = (): IdentityProvider => {
  const { GITHUB_URL, GITHUB_API_URL } = socialSettings();
  return {
    name: 'github',
    title: 'GitHub',
    scopes: ['read:user', 'user:email'],
    authorizationUrl: `${GITHUB_URL}/login/oauth/authorize`,
    tokenUrl: `${GITHUB_URL}/login/oauth/access_token`,
    profileUrls: { user: `${GITHUB_API_URL}/user`, emails: `${GITHUB_API_URL}/user/emails` },
    profile: githubProfile,
  };
};

const google = (): IdentityProvider => {
  const { GOOGLE_AUTHORIZATION_URL, GOOGLE_TOKEN_URL, GOOGLE_USERINFO_URL } = socialSettings();
  return {
    name: 'google',
    title: 'Google',
    scopes: ['openid', 'email', 'profile'],
    authorizationUrl: GOOGLE_AUTHORIZATION_URL,
    tokenUrl: GOOGLE_TOKEN_URL,
    profileUrls: { user: GOOGLE_USERINFO_URL },
    profile: googleProfile,
  };
};

const providers: ReadonlyMap<string, () => IdentityProvider> = new Map<SocialProviderName, () => IdentityProvider>([
  ['github', github],
  ['google', google],
]);

/** The provider that a path names; any other name → 404 `UNKNOWN_PROVIDER`. */
export const requireProvider = (name: string): IdentityProvider => {
  const provider = providers.get(name);
  if (!provider) {
    throw new AppError(
      'UNKNOWN_PROVIDER',
      `There is no such provider. Use one of: ${[...providers.keys()].join(', ')}.`,
    );
  }
  return provider();
};
