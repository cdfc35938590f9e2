import { defineRoutes, defineRoutesLike } from '../../../shared/http/route.ts';
import { RecoveryCodesAnswer, TotpAnswer } from '../../account-fields.ts';
import { AuthenticationAnswer, PasskeyAnswer, RegistrationAnswer } from '../../passkey-schemas.ts';
import { DoneAnswer, IdAnswer, Redirect } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';
import {
  AuthenticatedBody,
  CallbackQuery,
  CodeBody,
  CredentialsBody,
  DeletionBody,
  DeveloperAnswer,
  EmailBody,
  EmailProofBody,
  ExchangeBody,
  FactorBody,
  FactorCodeBody,
  PasskeyNameBody,
  PasskeyPage,
  PasswordChangeBody,
  PasswordResetBody,
  RegisteredBody,
  SessionPage,
  SignInAnswer,
  TicketBody,
} from './schemas.ts';

/** Rows that take or send credentials. */
const credential = defineRoutesLike({ method: 'POST', access: 'public', credential: true });
const open = defineRoutesLike({ method: 'POST', access: 'public' });
/** Rows of who is signed in. */
const own = defineRoutesLike({ method: 'GET', access: 'developer' });
const ownCredential = defineRoutesLike({ method: 'POST', access: 'developer', credential: true });

/** Developer accounts of the dashboard (contract 6). */
export const dashboardAuthRoutes = defineRoutes({
  'sign-up-developer': credential({
    path: '/api/auth/register',
    summary: 'Create a developer account',
    body: CredentialsBody,
    response: { status: 201, body: SignInAnswer },
  }),
  'sign-in-developer': credential({
    path: '/api/auth/login',
    summary: 'Sign in with email address and password',
    body: CredentialsBody,
    response: { status: 200, body: SignInAnswer },
  }),
  'refresh-developer': open({
    path: '/api/auth/refresh',
    summary: 'Exchange the refresh cookie for new tokens',
    response: { status: 200, body: SignInAnswer },
  }),
  'sign-out-developer': open({
    path: '/api/auth/logout',
    database: false,
    summary: 'End the session of the refresh cookie',
    response: { status: 200, body: DoneAnswer },
  }),
  'get-developer': own({
    path: '/api/auth/me',
    resource: 'account',
    summary: 'Get the signed-in developer',
    response: { status: 200, body: DeveloperAnswer },
  }),
  'verify-developer-email': credential({
    path: '/api/auth/verify-email',
    session: 'optional',
    summary: 'Verify the email address with a token or code',
    body: EmailProofBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'resend-developer-verification': credential({
    path: '/api/auth/resend-verification',
    summary: 'Send the verification email again',
    body: EmailBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'request-developer-reset': credential({
    path: '/api/auth/request-password-reset',
    summary: 'Send an email that resets the password',
    body: EmailBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'reset-developer-password': credential({
    path: '/api/auth/reset-password',
    summary: 'Reset the password with a token or code',
    body: PasswordResetBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'send-developer-code': credential({
    path: '/api/auth/code',
    summary: 'Send an email with a sign-in code and link',
    body: EmailBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'sign-in-developer-by-code': credential({
    path: '/api/auth/code/verify',
    summary: 'Sign in with an emailed code or link',
    body: CodeBody,
    response: { status: 200, body: SignInAnswer },
  }),
  'start-developer-totp': ownCredential({
    path: '/api/auth/second-factor/totp',
    summary: 'Start setting up an authenticator app as the second factor',
    response: { status: 200, body: TotpAnswer },
  }),
  'confirm-developer-totp': ownCredential({
    path: '/api/auth/second-factor/totp/confirm',
    summary: 'Confirm the authenticator app',
    body: FactorCodeBody,
    response: { status: 200, body: RecoveryCodesAnswer },
  }),
  'remove-developer-totp': ownCredential({
    method: 'DELETE',
    path: '/api/auth/second-factor/totp',
    summary: 'Remove the authenticator app',
    body: FactorBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'sign-in-developer-with-factor': credential({
    path: '/api/auth/second-factor/verify',
    summary: 'Complete a sign-in with the second factor',
    body: TicketBody,
    response: { status: 200, body: SignInAnswer },
  }),
  'start-developer-registration': ownCredential({
    path: '/api/auth/passkeys/registration',
    summary: 'Get the options for creating a passkey',
    response: { status: 200, body: RegistrationAnswer },
  }),
  'register-developer-passkey': ownCredential({
    path: '/api/auth/passkeys/registration/verify',
    summary: 'Register a passkey that the browser created',
    body: RegisteredBody,
    maxBodyBytes: 64 * 1024,
    response: { status: 201, body: PasskeyAnswer },
  }),
  'start-developer-passkey-sign-in': open({
    path: '/api/auth/passkeys/authentication',
    database: false,
    summary: "Get the options for a developer's passkey sign-in",
    response: { status: 200, body: AuthenticationAnswer },
  }),
  'sign-in-developer-with-passkey': credential({
    path: '/api/auth/passkeys/authentication/verify',
    summary: 'Sign in with a passkey',
    body: AuthenticatedBody,
    maxBodyBytes: 64 * 1024,
    response: { status: 200, body: SignInAnswer },
  }),
  'list-developer-passkeys': own({
    path: '/api/auth/passkeys',
    summary: 'List the passkeys of the signed-in user, oldest first',
    query: PageQuery,
    response: { status: 200, body: PasskeyPage },
  }),
  'rename-developer-passkey': own({
    method: 'PATCH',
    path: '/api/auth/passkeys/{id}',
    summary: 'Rename a passkey',
    body: PasskeyNameBody,
    response: { status: 200, body: PasskeyAnswer },
  }),
  'delete-developer-passkey': ownCredential({
    method: 'DELETE',
    path: '/api/auth/passkeys/{id}',
    summary: 'Delete a passkey, and end all other sessions',
    response: { status: 200, body: IdAnswer },
  }),
  'change-developer-password': own({
    method: 'PUT',
    path: '/api/auth/change-password',
    summary: 'Change the password, and end all other sessions',
    body: PasswordChangeBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'delete-developer': own({
    method: 'DELETE',
    path: '/api/auth/account',
    summary: 'Delete the account of the signed-in developer and everything it owns',
    body: DeletionBody,
    response: { status: 202, body: IdAnswer },
  }),
  'list-developer-sessions': own({
    path: '/api/auth/sessions',
    summary: 'List the sessions of the signed-in user, last used first',
    query: PageQuery,
    response: { status: 200, body: SessionPage },
  }),
  'revoke-developer-session': own({
    method: 'DELETE',
    path: '/api/auth/sessions/{id}',
    summary: 'End one session of the signed-in user',
    response: { status: 200, body: IdAnswer },
  }),
  'start-developer-sign-in': open({
    method: 'GET',
    path: '/api/auth/github/start',
    database: false,
    summary: 'Send the browser to GitHub to sign a developer in',
    response: { status: 302, body: Redirect },
  }),
  'finish-developer-sign-in': open({
    method: 'GET',
    path: '/api/auth/github/callback',
    summary: 'Handle the redirect from GitHub and sign the developer in',
    query: CallbackQuery,
    response: { status: 302, body: Redirect },
  }),
  'exchange-developer-code': open({
    path: '/api/auth/github/exchange',
    summary: 'Exchange the code of a sign-in with GitHub for tokens and the refresh cookie',
    body: ExchangeBody,
    response: { status: 200, body: SignInAnswer },
  }),
});
