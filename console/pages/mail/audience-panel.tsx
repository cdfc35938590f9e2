import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Panel } from '../../ui/panel.tsx';
import { AddContacts } from './add-contacts.tsx';
import { Contacts } from './contacts.tsx';
import { idOf, recordsOf, textIn } from './provider.ts';

export const AudiencePanel = ({
  projectId,
  audienceId,
  onClose,
}: {
  readonly projectId: string;
  readonly audienceId: string;
  readonly onClose: () => void;
}) => {
  const { data } = useQuery('list-project-audiences', { projectId, query: { limit: 100 } }).value;
  const audience = recordsOf(data).find((one) => idOf(one) === audienceId);
  const name = audience ? textIn(audience, 'name') : audienceId;
  const deleting = useSignal(false);
  return (
    <Panel title={name} onClose={onClose}>
      <Contacts projectId={projectId} audienceId={audienceId} />
      <AddContacts projectId={projectId} audienceId={audienceId} />
      <div class="row">
        <Button
          kind="danger"
          onClick={() => {
            deleting.value = true;
          }}
        >
          {t.mail.deleteAudience}
        </Button>
      </div>
      {deleting.value && (
        <Confirm
          title={t.mail.deleteAudience}
          text={t.mail.deleteAudienceText}
          name={name}
          label={t.mail.typeName}
          act={t.acts.delete}
          onClose={() => {
            deleting.value = false;
          }}
          onConfirm={async () => {
            await request('delete-project-audience', { projectId, audienceId });
            onClose();
          }}
        />
      )}
    </Panel>
  );
};
