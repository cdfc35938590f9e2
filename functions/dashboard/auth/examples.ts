import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { passkeyExamples } from '../../passkey-examples.ts';
import { dashboardAuthRoutes } from './routes.ts';

const email = 'grace@example.com';
const password = 'correct horse battery';
const headers = { dashboard_refresh: '6743f0c2a91b5d0012ab34ce.pQ3vX0aJt7m2bWcYhR5sKd8uEfGzLiNo1234567890A' };

/** For the API description: a successful request for each route. */
export const dashboardAuthExamples = defineExamples(dashboardAuthRoutes, {
  'sign-up-developer': { body: { email, password }, failures: ['DEVELOPER_EXISTS', 'SIGNUP_DISABLED'] },
  'sign-in-developer': {
    body: { email, password },
    failures: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'refresh-developer': {
    headers: { ...headers, 'idempotency-key': '3f1c9d52-6f0e-4b52-9f7a-0c1d2e3f4a5b' },
    failures: ['VALIDATION_FAILED', 'REFRESH_TOKEN_MISSING', 'REFRESH_TOKEN_INVALID'],
  },
  'sign-out-developer': { headers },
  'get-developer': {},
  'verify-developer-email': { body: { email, otp: '7KQM-3XWT' }, failures: ['INVALID_EMAIL_TOKEN'] },
  'resend-developer-verification': { body: { email } },
  'request-developer-reset': { body: { email } },
  'reset-developer-password': {
    body: { email, otp: '7KQM-3XWT', newPassword: 'another horse battery' },
    failures: ['INVALID_EMAIL_TOKEN'],
  },
  'send-developer-code': { body: { email } },
  'sign-in-developer-by-code': {
    body: { email, code: '7KQM-3XWT' },
    failures: ['INVALID_CODE', 'SECOND_FACTOR_REQUIRED'],
  },
  'start-developer-totp': { failures: ['SECOND_FACTOR_EXISTS', 'REAUTHENTICATION_REQUIRED'] },
  'confirm-developer-totp': {
    body: { code: '492039' },
    failures: ['INVALID_SECOND_FACTOR', 'SECOND_FACTOR_EXISTS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'remove-developer-totp': {
    body: { recoveryCode: '7KQM-3XWT' },
    failures: ['INVALID_SECOND_FACTOR', 'SECOND_FACTOR_NOT_FOUND', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'sign-in-developer-with-factor': {
    body: { ticket: 'u6bq0Jt7m2bWcYhR5sKd8uEfGzLiNo1234567890AbC', recoveryCode: '7KQM-3XWT' },
    failures: ['INVALID_SECOND_FACTOR', 'ACCOUNT_LOCKED'],
  },
  'start-developer-registration': { failures: ['SITE_URL_REQUIRED', 'REAUTHENTICATION_REQUIRED', 'LIMIT_REACHED'] },
  'register-developer-passkey': {
    body: passkeyExamples.registered,
    failures: ['INVALID_PASSKEY', 'SITE_URL_REQUIRED', 'REAUTHENTICATION_REQUIRED', 'LIMIT_REACHED'],
  },
  'start-developer-passkey-sign-in': { failures: ['SITE_URL_REQUIRED'] },
  'sign-in-developer-with-passkey': {
    body: passkeyExamples.authenticated,
    failures: ['INVALID_CREDENTIALS', 'SITE_URL_REQUIRED'],
  },
  'list-developer-passkeys': { query: { page: '1', limit: '20' } },
  'rename-developer-passkey': {
    params: { id: '6743f0c2a91b5d0012ab34ce' },
    body: { name: 'Phone' },
    failures: ['PASSKEY_NOT_FOUND'],
  },
  'delete-developer-passkey': {
    params: { id: '6743f0c2a91b5d0012ab34ce' },
    failures: ['PASSKEY_NOT_FOUND', 'LAST_WAY_TO_SIGN_IN', 'REAUTHENTICATION_REQUIRED'],
  },
  'change-developer-password': {
    body: { currentPassword: password, newPassword: 'a third horse battery', endTokens: true },
    failures: ['INVALID_CREDENTIALS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'delete-developer': {
    body: { password },
    failures: ['INVALID_CREDENTIALS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'list-developer-sessions': { query: { page: '1', limit: '20' } },
  'revoke-developer-session': { params: { id: '6743f0c2a91b5d0012ab34ce' }, failures: ['SESSION_NOT_FOUND'] },
  'start-developer-sign-in': { failures: ['UNKNOWN_PROVIDER'] },
  'finish-developer-sign-in': {
    query: { state: 'developers.u6bq0', code: '7c4a8d09ca3762af61e5' },
    failures: ['UNKNOWN_PROVIDER'],
  },
  'exchange-developer-code': {
    body: { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI2NzQzIn0.c2ln', rtCode: 'u6bq0Jt7m2bWcYhR5sKd8uEfGzLiNo' },
    failures: ['INVALID_EXCHANGE_CODE'],
  },
});
