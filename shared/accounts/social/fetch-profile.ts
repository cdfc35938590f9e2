import * as v from 'valibot';
import type { SocialProfile } from './profile.ts';
import { askProvider } from './provider-request.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';

const read = async (url: string, accessToken: string): Promise<unknown> => {
  const { status, body } = await askProvider(url, {
    headers: { accept: 'application/json', authorization: `Bearer ${accessToken}`, 'user-agent': 'Basalt' },
  });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return body;
};

/**
 * Reads who the holder of a provider's access token is. Anything but the answers its schema expects fails the sign-in.
 */
export const fetchProfile = async (
  { title, profileUrls, profile }: IdentityProvider,
  accessToken: string,
): Promise<SocialProfile> => {
  try {
    const answers = await Promise.all(
      Object.entries(profileUrls).map(async ([name, url]) => [name, await read(url, accessToken)] as const),
    );
    return v.parse(profile, Object.fromEntries(answers));
  } catch (cause) {
    throw signInFailed(`${title} did not tell who you are. Please try again.`, cause);
  }
};
