import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Listed } from '../../ui/listed.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AudiencePanel } from './audience-panel.tsx';
import { idOf, type ProviderRecord, recordOf, textIn, timeIn } from './provider.ts';
import { ProviderList } from './provider-list.tsx';

const NewAudience = ({
  projectId,
  onMade,
  onClose,
}: {
  readonly projectId: string;
  readonly onMade: (id: string) => void;
  readonly onClose: () => void;
}) => {
  const { draft, set } = useDraft({ name: '' });
  const create = async () => {
    const { data } = await request('create-project-audience', { projectId, body: draft.value });
    onMade(idOf(recordOf(data)));
  };
  return (
    <Dialog title={t.mail.newAudience} onClose={onClose}>
      <Form act={t.acts.create} cancel={t.acts.cancel} onCancel={onClose} onSubmit={create}>
        {(wrong) => (
          <Field
            label={t.mail.name}
            required
            maxLength={200}
            value={draft.value.name}
            onInput={set('name')}
            wrong={wrong('name')}
          />
        )}
      </Form>
    </Dialog>
  );
};

const columnsOf = (addressOf: (id: string) => string): readonly Column<ProviderRecord>[] => [
  {
    key: 'name',
    label: t.mail.name,
    cell: (audience) => <a href={addressOf(idOf(audience))}>{textIn(audience, 'name')}</a>,
  },
  { key: 'created', label: t.users.created, cell: (audience) => <Time at={timeIn(audience, 'created_at')} /> },
];

/** The audiences in the project's own account with the mail provider. */
export const Audiences = ({ projectId }: { readonly projectId: string }) => {
  const { data: project } = useQuery('get-project', { projectId }).value;
  return (
    <Listed
      act={t.mail.newAudience}
      withoutAct={!project?.hasProviderApiKey}
      narrowList
      ofOpen={['contacts']}
      list={(open, addressOf, onOpen) => (
        <ProviderList
          row="list-project-audiences"
          input={{ projectId }}
          label={t.mail.parts.audiences}
          columns={columnsOf(addressOf)}
          empty={t.mail.noAudiences}
          after="after"
          selected={open}
          onOpen={onOpen}
        />
      )}
      panel={(open, onClose) => <AudiencePanel key={open} projectId={projectId} audienceId={open} onClose={onClose} />}
      form={(onMade, onClose) => <NewAudience projectId={projectId} onMade={onMade} onClose={onClose} />}
    />
  );
};
