import type { FunctionComponent } from 'preact';
import { useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { Webhooks } from '../webhooks/webhooks.tsx';
import { AuditTrail } from './audit-trail.tsx';
import { Connections } from './connections.tsx';
import { General } from './general.tsx';
import { Keys } from './keys.tsx';
import { MailSettings } from './mail-settings.tsx';
import { Members } from './members.tsx';
import { SignInSettings } from './sign-in-settings.tsx';

export interface SettingsProps {
  readonly project: Data<'get-project'>;
}

const parts = {
  general: General,
  keys: Keys,
  'sign-in': SignInSettings,
  mail: MailSettings,
  connections: Connections,
  webhooks: Webhooks,
  members: Members,
  audit: AuditTrail,
} as const satisfies Readonly<Record<string, FunctionComponent<SettingsProps>>>;
type Part = keyof typeof parts;

const isPart = (name: string): name is Part => Object.hasOwn(parts, name);

export const Settings = () => {
  const { projectId = '', part = 'general' } = useRoute().params;
  const base = `/projects/${projectId}/settings`;
  const present: Part = isPart(part) ? part : 'general';
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const Part = parts[present];
  return (
    <Page title={t.nav.settings}>
      <Tabs
        label={t.nav.settings}
        present={`${base}/${present}`}
        tabs={(Object.keys(parts) as Part[]).map((name) => [`${base}/${name}`, t.settings.parts[name]])}
      />
      {problem && <ProblemNote problem={problem} onRetry={found.reload} />}
      <Waiting of={found.value} />
      {project && <Part key={projectId} project={project} />}
    </Page>
  );
};
