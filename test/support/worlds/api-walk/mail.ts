import { expect } from 'vitest';
import { eventually } from '../../clients/eventually.ts';
import { signedHeaders } from '../../clients/webhook.ts';
import type { WalkContext } from './context.ts';
import { projectWebhookSecret } from './projects.ts';

interface Logs {
  readonly data: readonly { readonly _id: string; readonly status: string; readonly providerEmailId: string | null }[];
}

/** Waits until the provider has a mail and answers its own id of it. */
const providerIdOf = ({ open }: WalkContext, id: string): Promise<string> =>
  eventually(async () => {
    const { body } = await open.run<Logs>('list-mail-logs');
    const found = body.data.find(({ _id }) => _id === id)?.providerEmailId;
    if (!found) throw new Error('The mail has not been sent yet');
    return found;
  });

/** Mails, what became of them, and templates. */
export const walkMail = async (context: WalkContext): Promise<void> => {
  const { open, dashboard, stack } = context;
  const sent = await open.run('send-mail');
  await open.run('send-batch');
  const email_id = await providerIdOf(context, sent.body.data.id ?? '');
  await open.run('get-mail-log', { params: { providerId: email_id } });

  const bounced = { type: 'email.bounced', data: { email_id, to: ['ada@example.com'], bounce: { type: 'Permanent' } } };
  const event = { type: bounced.type, created_at: new Date().toISOString(), data: bounced.data };
  const signed = (secret: string) => signedHeaders(Buffer.from(JSON.stringify(event)), { secret });
  await open.run('receive-webhook', { body: event, headers: signed(stack.env.MAIL_WEBHOOK_SECRET ?? '') });
  await open.run('receive-project-webhook', { body: event, headers: signed(projectWebhookSecret) });
  const suppressed = await dashboard.run<{ readonly data: { readonly total: number } }>('list-suppressions');
  expect(suppressed.body.data.total).toBe(1);
  await dashboard.run('delete-suppression', { params: { email: 'ada@example.com' } });

  const template = await dashboard.run('create-mail-template');
  const templateId = { params: { templateId: template.body.data._id ?? '' } };
  await dashboard.run('list-mail-templates');
  await dashboard.run('get-mail-template', templateId);
  await dashboard.run('update-mail-template', templateId);
  await dashboard.run('update-mail-template-patch', templateId);
  const tried = await dashboard.run('send-test-mail', templateId);
  await dashboard.run('list-project-mail-logs');
  await dashboard.run('get-project-mail-log', {
    params: { providerId: await providerIdOf(context, tried.body.data.id ?? '') },
  });
  await dashboard.run('delete-mail-template', templateId);
};

/** Audiences and broadcasts by one of the APIs; `of` stands in the names of the dashboard's operations. */
const walkAudiences = async (api: WalkContext['open'], of: '' | 'project-'): Promise<void> => {
  const made = await api.run(`create-${of}audience`);
  const audienceId = made.body.data.id ?? '';
  const params = { audienceId };
  await api.run(`list-${of}audiences`);
  const contact = await api.run(`create-${of}contact`, { params });
  const withContact = { params: { audienceId, contactId: contact.body.data.id ?? '' } };
  await api.run(`list-${of}contacts`, { params });
  await api.run(`update-${of}contact`, withContact);
  await api.run(`delete-${of}contact`, withContact);

  const draft = () => api.run(`create-${of}broadcast`, { body: { audienceId } });
  const id = { params: { id: (await draft()).body.data.id ?? '' } };
  await api.run(`list-${of}broadcasts`);
  await api.run(`get-${of}broadcast`, id);
  await api.run(`delete-${of}broadcast`, id);
  await api.run(`create-${of}contact`, { params });
  await api.run(`send-${of}broadcast`, { params: { id: (await draft()).body.data.id ?? '' } });
  await api.run(`delete-${of}audience`, { params });
};

/** Audiences and broadcasts, in the project's own account at the provider. */
export const walkMarketing = async ({ open, dashboard }: WalkContext): Promise<void> => {
  await walkAudiences(open, '');
  await walkAudiences(dashboard, 'project-');
};
