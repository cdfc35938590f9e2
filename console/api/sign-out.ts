import { request } from './request.ts';
import { signedOut } from './session.ts';

/** Ends the session; the sign-in, which comes then, leads back to where one was. */
export const signOut = async (): Promise<void> => {
  await request('sign-out-developer', {});
  signedOut();
};
