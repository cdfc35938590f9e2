import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardProjectRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';

/** For the API description: a successful request for each route. */
export const dashboardProjectExamples = defineExamples(dashboardProjectRoutes, {
  'create-project': {
    body: { name: 'Shop', siteUrl: 'https://shop.example.com', allowedDomains: ['*'], authEnabled: true },
    failures: ['PLAN_LIMIT'],
  },
  'list-projects': { query: { page: '1', limit: '20' } },
  'get-project': { params: { projectId } },
  'update-project': {
    params: { projectId },
    body: {
      name: 'Shop',
      allowPublicSignup: true,
      signIn: { emailCode: true, secondFactor: 'optional' },
      providerApiKey: 're_8Hq2mWcY_5sKd8uEfGzLiNo',
      providerFromEmail: 'Shop <orders@shop.example.com>',
      socialProviders: { github: { enabled: true, clientId: 'Iv1.8a61f9b3a7aba766', clientSecret: 'a-client-secret' } },
    },
    failures: ['NOTHING_TO_UPDATE', 'LIMIT_REACHED'],
  },
  'delete-project': { params: { projectId } },
  'rotate-key': { params: { projectId }, body: { type: 'secret', graceHours: 24 } },
  'rotate-signing-key': { params: { projectId } },
});
