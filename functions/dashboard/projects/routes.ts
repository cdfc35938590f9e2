import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';
import {
  ChangedProjectAnswer,
  KeyAnswer,
  NewProjectAnswer,
  NewProjectBody,
  ProjectAnswer,
  ProjectChangesBody,
  ProjectPage,
  RotateKeyBody,
  SigningKeyAnswer,
} from './schemas.ts';

export const dashboardProjectRoutes = defineProjectRoutes('projects', {
  'create-project': {
    method: 'POST',
    path: '/api/projects',
    handsOut: ['keys:write'],
    summary: 'Create a project; the response contains both keys',
    body: NewProjectBody,
    response: { status: 201, body: NewProjectAnswer },
    example: { body: { name: 'Shop', siteUrl: 'https://shop.example.com', allowedDomains: ['*'], authEnabled: true } },
    errors: ['PLAN_LIMIT'],
  },
  'list-projects': {
    method: 'GET',
    path: '/api/projects',
    summary: 'List the projects that you own or are a member of, newest first',
    query: PageQuery,
    response: { status: 200, body: ProjectPage },
  },
  'get-project': {
    method: 'GET',
    path: '/api/projects/{projectId}',
    summary: 'Get a project',
    response: { status: 200, body: ProjectAnswer },
  },
  'update-project': {
    method: 'PATCH',
    path: '/api/projects/{projectId}',
    summary: 'Update the settings of a project',
    body: ProjectChangesBody,
    response: { status: 200, body: ChangedProjectAnswer },
    example: {
      body: {
        name: 'Shop',
        allowPublicSignup: true,
        signIn: { emailCode: true, secondFactor: 'optional' },
        providerApiKey: 're_8Hq2mWcY_5sKd8uEfGzLiNo',
        providerFromEmail: 'Shop <orders@shop.example.com>',
        socialProviders: {
          github: { enabled: true, clientId: 'Iv1.8a61f9b3a7aba766', clientSecret: 'a-client-secret' },
        },
      },
    },
    errors: ['NOTHING_TO_UPDATE', 'LIMIT_REACHED', 'INVALID_RLS', 'SCHEMA_CONFLICT'],
  },
  'delete-project': {
    method: 'DELETE',
    path: '/api/projects/{projectId}',
    role: 'owner',
    summary: 'Delete a project and everything it owns',
    response: { status: 202, body: IdAnswer },
  },
  'rotate-key': {
    method: 'POST',
    path: '/api/projects/{projectId}/keys/rotate',
    resource: 'keys',
    summary: 'Rotate a key of a project, immediately or after a grace period',
    body: RotateKeyBody,
    response: { status: 201, body: KeyAnswer },
    example: { body: { type: 'secret', graceHours: 24 } },
  },
  'rotate-signing-key': {
    method: 'POST',
    path: '/api/projects/{projectId}/signing-keys/rotate',
    resource: 'keys',
    summary: 'Rotate the key that signs access tokens; issued tokens stay valid',
    response: { status: 201, body: SigningKeyAnswer },
  },
});
