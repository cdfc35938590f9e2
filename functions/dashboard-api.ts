import { version } from '../shared/core/config.ts';
import { dashboardSchemes, describeApi, type OpenApi, type Tag } from '../shared/http/openapi/describe-api.ts';
import { audiencesTag } from './audiences-tag.ts';
import { dashboardExamples } from './examples.ts';
import { dashboardRoutes } from './routes.ts';

/** The OpenAPI description of the dashboard API. It is made once: where functions are bundled, by the bundler. */
export const dashboardDocument = (): OpenApi =>
  describeApi({
    title: 'Basalt, dashboard API',
    description:
      'Everything that a developer does with projects: keys, collections, documents, end users, files, mail, members and settings. For a console, and for scripts with a personal access token.',
    version,
    tables: dashboardRoutes,
    examples: dashboardExamples,
    tags: {
      'dashboard/auth': {
        name: 'Developer accounts',
        description: 'Signing up and in at the dashboard, sessions, and the account itself.',
      },
      'dashboard/tokens': { name: 'Personal access tokens', description: 'Tokens with which scripts call this API.' },
      'dashboard/projects': {
        name: 'Projects and keys',
        description: 'Projects, their settings, API keys and signing keys.',
      },
      'dashboard/members': { name: 'Members', description: 'Who may do what in a project, and invitations.' },
      'dashboard/audit': { name: 'Audit trail', description: 'Who changed which setting when.' },
      'dashboard/collections': {
        name: 'Collections',
        description: 'Collections, their schemas, row security and indexes.',
      },
      'dashboard/database': { name: 'Own database', description: "A MongoDB of the project's own instead of ours." },
      'dashboard/documents': {
        name: 'Data browser',
        description: 'The documents of a collection, whatever its row security.',
      },
      'dashboard/trash': { name: 'Trash', description: 'Documents that were deleted in the last 30 days.' },
      'dashboard/transfers': {
        name: 'Exports and imports',
        description: 'Whole collections as files, and files as collections.',
      },
      'dashboard/users': { name: 'End users', description: "The accounts and sessions of the app's users." },
      'dashboard/storage': { name: 'Files', description: "What was uploaded, and storage of the project's own." },
      'dashboard/mail': { name: 'Mail', description: 'Sent mails, templates and suppressed addresses.' },
      'dashboard/mail/audiences': audiencesTag,
      'dashboard/mail/broadcasts': audiencesTag,
      'dashboard/webhooks': { name: 'Webhooks', description: 'What tells a server of yours of what happens here.' },
      'dashboard/assistant': { name: 'Schema assistant', description: 'A schema proposed by a language model.' },
      'dashboard/usage': {
        name: 'Usage',
        description: 'What the project uses of its plan, its requests, and the indexes it lacks.',
      },
      'dashboard/service': { name: 'Service', description: 'This description, and whether the service is well.' },
    } satisfies Record<keyof typeof dashboardRoutes, Tag>,
    securitySchemes: dashboardSchemes,
  });
