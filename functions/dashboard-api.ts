import { version } from '../shared/core/config.ts';
import { dashboardSchemes, describeApi, type OpenApi, type Tag } from '../shared/http/openapi/describe-api.ts';
import { audiencesTag } from './audiences-tag.ts';
import { dashboardRoutes } from './routes.ts';

/** Evaluated by the bundler, so functions contain the finished document. */
export const dashboardDocument = (): OpenApi =>
  describeApi({
    title: 'Basalt, dashboard API',
    description:
      'Manages projects: keys, collections, documents, users, files, mail, members and settings. For a console, and for scripts with a personal access token.',
    version,
    tables: dashboardRoutes,
    tags: {
      'dashboard/auth': {
        name: 'Developer accounts',
        description: 'Developer sign-up, sign-in, sessions and accounts.',
      },
      'dashboard/tokens': { name: 'Personal access tokens', description: 'Tokens for scripts that call this API.' },
      'dashboard/projects': {
        name: 'Projects and keys',
        description: 'Projects, their settings, API keys and signing keys.',
      },
      'dashboard/members': { name: 'Members', description: 'Members of a project, their roles, and invitations.' },
      'dashboard/audit': { name: 'Audit trail', description: 'The audit trail: who changed which setting, and when.' },
      'dashboard/collections': {
        name: 'Collections',
        description: 'Collections, their schemas, row security and indexes.',
      },
      'dashboard/database': {
        name: 'Own database',
        description: "The project's own MongoDB instead of the hosted one.",
      },
      'dashboard/documents': {
        name: 'Data browser',
        description: 'The documents of a collection, with the rights of the secret key.',
      },
      'dashboard/trash': { name: 'Trash', description: 'Documents deleted in the last 30 days.' },
      'dashboard/transfers': {
        name: 'Exports and imports',
        description: 'Whole collections as files, and files as collections.',
      },
      'dashboard/users': { name: 'End users', description: "The accounts and sessions of the app's users." },
      'dashboard/storage': { name: 'Files', description: "Uploaded files, and the project's own bucket." },
      'dashboard/mail': { name: 'Mail', description: 'Sent emails, templates and suppressed addresses.' },
      'dashboard/mail/audiences': audiencesTag,
      'dashboard/mail/broadcasts': audiencesTag,
      'dashboard/webhooks': {
        name: 'Webhooks',
        description: 'Signed HTTP calls to your server when something changes.',
      },
      'dashboard/assistant': { name: 'Schema assistant', description: 'Schemas proposed by a language model.' },
      'dashboard/usage': {
        name: 'Usage',
        description: 'Plan usage, request statistics and missing indexes.',
      },
      'dashboard/service': { name: 'Service', description: 'The API description and the health check.' },
    } satisfies Record<keyof typeof dashboardRoutes, Tag>,
    securitySchemes: dashboardSchemes,
  });
