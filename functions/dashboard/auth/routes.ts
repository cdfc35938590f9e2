import { defineRoutes } from '../../../shared/http/route.ts';
import { CredentialsBody, DeveloperAnswer, LogOutAnswer, SignInAnswer } from './schemas.ts';

/** Developer accounts of the dashboard (contract 6). */
export const dashboardAuthRoutes = defineRoutes({
  'register-developer': {
    method: 'POST',
    path: '/api/auth/register',
    access: 'public',
    credential: true,
    uses: ['mongodb', 'sessions', 'encryption'],
    summary: 'Open a developer account',
    body: CredentialsBody,
    response: { status: 201, body: SignInAnswer },
  },
  'log-in-developer': {
    method: 'POST',
    path: '/api/auth/login',
    access: 'public',
    credential: true,
    uses: ['mongodb', 'sessions', 'lockouts', 'encryption'],
    summary: 'Log in with e-mail address and password',
    body: CredentialsBody,
    response: { status: 200, body: SignInAnswer },
  },
  'refresh-developer': {
    method: 'POST',
    path: '/api/auth/refresh',
    access: 'public',
    uses: ['mongodb', 'sessions', 'encryption'],
    summary: 'Exchange the refresh cookie for new tokens',
    response: { status: 200, body: SignInAnswer },
  },
  'log-out-developer': {
    method: 'POST',
    path: '/api/auth/logout',
    access: 'public',
    uses: ['sessions'],
    summary: 'End the session of the refresh cookie',
    response: { status: 200, body: LogOutAnswer },
  },
  'get-developer': {
    method: 'GET',
    path: '/api/auth/me',
    access: 'developer',
    uses: ['mongodb', 'encryption'],
    summary: 'Read the signed-in developer',
    response: { status: 200, body: DeveloperAnswer },
  },
});
