import { useRoute } from 'preact-iso/router';
import { t } from '../../text/words.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Unverified } from '../../ui/unverified.tsx';
import { Audiences } from './audiences.tsx';
import { Broadcasts } from './broadcasts.tsx';
import { MailLogs } from './mail-logs.tsx';
import { Suppressions } from './suppressions.tsx';
import { Templates } from './templates.tsx';

const parts = {
  logs: MailLogs,
  templates: Templates,
  audiences: Audiences,
  broadcasts: Broadcasts,
  suppressions: Suppressions,
} as const;
type Part = keyof typeof parts;

const isPart = (name: string): name is Part => Object.hasOwn(parts, name);

export const Mail = () => {
  const { projectId = '', part = 'logs' } = useRoute().params;
  const base = `/projects/${projectId}/mail`;
  const present: Part = isPart(part) ? part : 'logs';
  const Part = parts[present];
  return (
    <Page title={t.nav.mail}>
      <Tabs
        label={t.nav.mail}
        present={`${base}/${present}`}
        tabs={(Object.keys(parts) as Part[]).map((name) => [`${base}/${name}`, t.mail.parts[name]])}
      />
      <Unverified />
      <Part projectId={projectId} />
    </Page>
  );
};
