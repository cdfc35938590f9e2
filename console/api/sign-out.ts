import { request } from './request.ts';
import { signedOut } from './session.ts';

/** Ends the session. The sign-in page then leads back to this page. */
export const signOut = async (): Promise<void> => {
  await request('sign-out-developer', {});
  signedOut();
};
