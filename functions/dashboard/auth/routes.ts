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
    summary: 'Open a developer account',
    body: CredentialsBody,
    response: { status: 201, body: SignInAnswer },
  }),
  'sign-in-developer': credential({
    path: '/api/auth/login',
    summary: 'Log in with e-mail address and password',
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
    summary: 'Read the signed-in developer',
    response: { status: 200, body: DeveloperAnswer },
  }),
  'verify-developer-email': credential({
    path: '/api/auth/verify-email',
    session: 'optional',
    summary: 'Verify the address with the token or code of a mail',
    body: EmailProofBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'resend-developer-verification': credential({
    path: '/api/auth/resend-verification',
    summary: 'Send the mail that verifies the address again',
    body: EmailBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'request-developer-reset': credential({
    path: '/api/auth/request-password-reset',
    summary: 'Send a mail to set the password anew',
    body: EmailBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'reset-developer-password': credential({
    path: '/api/auth/reset-password',
    summary: 'Set the password anew with the token or code of a mail',
    body: PasswordResetBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'send-developer-code': credential({
    path: '/api/auth/code',
    summary: 'Send a mail with a code and a link that sign in',
    body: EmailBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'sign-in-developer-by-code': credential({
    path: '/api/auth/code/verify',
    summary: 'Log in with the code or the link of a mail',
    body: CodeBody,
    response: { status: 200, body: SignInAnswer },
  }),
  'start-developer-totp': ownCredential({
    path: '/api/auth/second-factor/totp',
    summary: 'Begin to set up an authenticator app as second factor',
    response: { status: 200, body: TotpAnswer },
  }),
  'confirm-developer-totp': ownCredential({
    path: '/api/auth/second-factor/totp/confirm',
    summary: 'Have the authenticator app count from now on',
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
    summary: 'End a log-in by its second factor',
    body: TicketBody,
    response: { status: 200, body: SignInAnswer },
  }),
  'start-developer-registration': ownCredential({
    path: '/api/auth/passkeys/registration',
    summary: 'Get what a browser makes a passkey of',
    response: { status: 200, body: RegistrationAnswer },
  }),
  'register-developer-passkey': ownCredential({
    path: '/api/auth/passkeys/registration/verify',
    summary: 'Add a passkey that a browser has made',
    body: RegisteredBody,
    maxBodyBytes: 64 * 1024,
    response: { status: 201, body: PasskeyAnswer },
  }),
  'start-developer-passkey-sign-in': open({
    path: '/api/auth/passkeys/authentication',
    database: false,
    summary: 'Get what a browser logs in with a passkey by',
    response: { status: 200, body: AuthenticationAnswer },
  }),
  'sign-in-developer-with-passkey': credential({
    path: '/api/auth/passkeys/authentication/verify',
    summary: 'Log in with a passkey',
    body: AuthenticatedBody,
    maxBodyBytes: 64 * 1024,
    response: { status: 200, body: SignInAnswer },
  }),
  'list-developer-passkeys': own({
    path: '/api/auth/passkeys',
    summary: 'List the own passkeys, the oldest first',
    query: PageQuery,
    response: { status: 200, body: PasskeyPage },
  }),
  'rename-developer-passkey': own({
    method: 'PATCH',
    path: '/api/auth/passkeys/{id}',
    summary: 'Name one of the own passkeys anew',
    body: PasskeyNameBody,
    response: { status: 200, body: PasskeyAnswer },
  }),
  'delete-developer-passkey': ownCredential({
    method: 'DELETE',
    path: '/api/auth/passkeys/{id}',
    summary: 'Delete one of the own passkeys and end all other sessions',
    response: { status: 200, body: IdAnswer },
  }),
  'change-developer-password': own({
    method: 'PUT',
    path: '/api/auth/change-password',
    summary: 'Change the own password and end all other sessions',
    body: PasswordChangeBody,
    response: { status: 200, body: DoneAnswer },
  }),
  'delete-developer': own({
    method: 'DELETE',
    path: '/api/auth/account',
    summary: 'Delete the own account and everything it owns',
    body: DeletionBody,
    response: { status: 202, body: IdAnswer },
  }),
  'list-developer-sessions': own({
    path: '/api/auth/sessions',
    summary: 'List the own sessions, the one used last first',
    query: PageQuery,
    response: { status: 200, body: SessionPage },
  }),
  'revoke-developer-session': own({
    method: 'DELETE',
    path: '/api/auth/sessions/{id}',
    summary: 'End one of the own sessions',
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
    summary: 'Take the browser back from GitHub and sign its developer in',
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
