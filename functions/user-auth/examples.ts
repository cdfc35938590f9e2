import { defineExamples } from '../../shared/http/openapi/example.ts';
import { passkeyExamples } from '../passkey-examples.ts';
import { userAuthRoutes } from './routes.ts';

const email = 'ada@example.com';
const password = 'correct horse battery';
const refreshToken = {
  'x-refresh-token': '6743f0c2a91b5d0012ab34ce.pQ3vX0aJt7m2bWcYhR5sKd8uEfGzLiNo1234567890A',
  'x-refresh-token-mode': 'header',
};

/** For the API description: a successful request for each route. */
export const userAuthExamples = defineExamples(userAuthRoutes, {
  'sign-up': {
    headers: { 'x-refresh-token-mode': 'header' },
    body: { email, password, name: 'Ada' },
    failures: ['USER_EXISTS', 'PLAN_LIMIT', 'AUTH_DISABLED', 'SIGNUP_DISABLED'],
  },
  'sign-in': {
    headers: { 'x-refresh-token-mode': 'header' },
    body: { email, password },
    failures: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'ACCOUNT_LOCKED', 'AUTH_DISABLED'],
  },
  'refresh-token': {
    headers: { ...refreshToken, 'idempotency-key': '3f1c9d52-6f0e-4b52-9f7a-0c1d2e3f4a5b' },
    failures: ['VALIDATION_FAILED', 'REFRESH_TOKEN_MISSING', 'REFRESH_TOKEN_INVALID', 'AUTH_DISABLED'],
  },
  'sign-out': { headers: refreshToken },
  'get-me': { failures: ['AUTH_DISABLED'] },
  'update-profile': { body: { name: 'Ada Lovelace' }, failures: ['NOTHING_TO_UPDATE', 'DUPLICATE_VALUE'] },
  'change-password': {
    body: { currentPassword: password, newPassword: 'another horse battery' },
    failures: ['INVALID_CREDENTIALS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'request-email-change': {
    body: { email: 'ada.new@example.com', password },
    failures: ['INVALID_CREDENTIALS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'change-email': {
    body: { email: 'ada.new@example.com', otp: '7KQM-3XWT' },
    failures: ['INVALID_EMAIL_TOKEN', 'USER_EXISTS'],
  },
  'delete-account': {
    body: { password },
    failures: ['INVALID_CREDENTIALS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'get-public-profile': { params: { username: 'ada' }, failures: ['USER_NOT_FOUND'] },
  'request-password-reset': { body: { email } },
  'reset-password': {
    body: { email, otp: '7KQM-3XWT', newPassword: 'a third horse battery' },
    failures: ['INVALID_EMAIL_TOKEN'],
  },
  'verify-email': { body: { email, otp: '7KQM-3XWT' }, failures: ['INVALID_EMAIL_TOKEN'] },
  'resend-verification-otp': { body: { email } },
  'send-code': { body: { email } },
  'sign-in-by-code': {
    headers: { 'x-refresh-token-mode': 'header' },
    body: { email, code: '7KQM-3XWT' },
    failures: ['INVALID_CODE', 'SECOND_FACTOR_REQUIRED', 'PLAN_LIMIT'],
  },
  'sign-up-anonymously': {
    headers: { 'x-refresh-token-mode': 'header' },
    failures: ['PLAN_LIMIT', 'AUTH_DISABLED', 'SIGNUP_DISABLED'],
  },
  'upgrade-anonymous': {
    body: { email: 'lin@example.com', password },
    failures: ['NOT_ANONYMOUS', 'USER_EXISTS', 'SIGN_IN_DISABLED'],
  },
  'start-totp': { failures: ['SECOND_FACTOR_EXISTS', 'REAUTHENTICATION_REQUIRED'] },
  'confirm-totp': {
    body: { code: '492039' },
    failures: ['INVALID_SECOND_FACTOR', 'SECOND_FACTOR_EXISTS', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'remove-totp': {
    body: { recoveryCode: '7KQM-3XWT' },
    failures: ['INVALID_SECOND_FACTOR', 'SECOND_FACTOR_NOT_FOUND', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'create-recovery-codes': {
    body: { recoveryCode: '7KQM-3XWT' },
    failures: ['INVALID_SECOND_FACTOR', 'SECOND_FACTOR_NOT_FOUND', 'REAUTHENTICATION_REQUIRED', 'ACCOUNT_LOCKED'],
  },
  'sign-in-with-factor': {
    headers: { 'x-refresh-token-mode': 'header' },
    body: { ticket: 'u6bq0Jt7m2bWcYhR5sKd8uEfGzLiNo1234567890AbC', recoveryCode: '7KQM-3XWT' },
    failures: ['INVALID_SECOND_FACTOR', 'ACCOUNT_LOCKED'],
  },
  'start-registration': { failures: ['SITE_URL_REQUIRED', 'REAUTHENTICATION_REQUIRED', 'LIMIT_REACHED'] },
  'register-passkey': {
    body: passkeyExamples.registered,
    failures: ['INVALID_PASSKEY', 'SITE_URL_REQUIRED', 'REAUTHENTICATION_REQUIRED', 'LIMIT_REACHED'],
  },
  'start-passkey-sign-in': { failures: ['SITE_URL_REQUIRED', 'SIGN_IN_DISABLED'] },
  'sign-in-with-passkey': {
    headers: { 'x-refresh-token-mode': 'header' },
    body: passkeyExamples.authenticated,
    failures: ['INVALID_CREDENTIALS', 'SITE_URL_REQUIRED', 'SIGN_IN_DISABLED'],
  },
  'list-passkeys': {},
  'rename-passkey': {
    params: { id: '6743f0c2a91b5d0012ab34ce' },
    body: { name: 'Phone' },
    failures: ['PASSKEY_NOT_FOUND'],
  },
  'delete-passkey': {
    params: { id: '6743f0c2a91b5d0012ab34ce' },
    failures: ['PASSKEY_NOT_FOUND', 'LAST_WAY_TO_SIGN_IN', 'REAUTHENTICATION_REQUIRED'],
  },
  'start-sign-in': { params: { provider: 'github' }, failures: ['UNKNOWN_PROVIDER', 'SITE_URL_REQUIRED'] },
  'begin-sign-in': {
    params: { provider: 'github' },
    failures: ['UNKNOWN_PROVIDER', 'SITE_URL_REQUIRED', 'SOCIAL_SIGN_IN_FAILED', 'AUTH_DISABLED', 'TOKEN_INVALID'],
  },
  'finish-sign-in': {
    params: { provider: 'github' },
    query: { state: '6743f0c2a91b5d0012ab34cd.u6bq0', code: '7c4a8d09ca3762af61e5' },
    failures: ['SOCIAL_SIGN_IN_FAILED', 'UNKNOWN_PROVIDER'],
  },
  'forward-sign-in': {
    params: { provider: 'apple' },
    failures: ['UNKNOWN_PROVIDER', 'INVALID_BODY', 'BODY_TOO_LARGE'],
  },
  'exchange-code': {
    body: { token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI2NzQzIn0.c2ln', rtCode: 'u6bq0Jt7m2bWcYhR5sKd8uEfGzLiNo' },
    failures: ['INVALID_EXCHANGE_CODE'],
  },
  'list-sessions': {},
  'link-provider': {
    params: { provider: 'github' },
    failures: ['UNKNOWN_PROVIDER', 'SITE_URL_REQUIRED', 'SOCIAL_SIGN_IN_FAILED', 'REAUTHENTICATION_REQUIRED'],
  },
  'unlink-provider': {
    params: { provider: 'github' },
    failures: ['PROVIDER_NOT_LINKED', 'LAST_WAY_TO_SIGN_IN', 'REAUTHENTICATION_REQUIRED'],
  },
  'get-security': { failures: ['AUTH_DISABLED'] },
  'revoke-session': { params: { id: '6743f0c2a91b5d0012ab34ce' }, failures: ['SESSION_NOT_FOUND'] },
  'get-jwks': { params: { projectId: '6743f0c2a91b5d0012ab34cd' }, failures: ['PROJECT_NOT_FOUND'] },
});
