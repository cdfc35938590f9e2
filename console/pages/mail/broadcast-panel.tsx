import { useSignal } from '@preact/signals';
import { useQuery } from '../../api/query.ts';
import { useRepeat } from '../../api/repeat.ts';
import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { HtmlPreview } from '../../ui/html-preview.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { BroadcastState } from './broadcast-state.tsx';
import { type ProviderRecord, recordOf, textIn, timeIn } from './provider.ts';
import { ProviderProblem } from './provider-problem.tsx';

interface Props {
  readonly projectId: string;
  readonly id: string;
  readonly audienceOf: (broadcast: ProviderRecord) => string;
  readonly onClose: () => void;
}

const lookMs = 3000;

/** One broadcast: its preview, its audience, and the remaining actions. */
export const BroadcastPanel = ({ projectId, id, audienceOf, onClose }: Props) => {
  const found = useQuery('get-project-broadcast', { projectId, id });
  const { data, problem } = found.value;
  const asking = useSignal<'send' | 'delete' | undefined>(undefined);
  const broadcast = recordOf(data);
  const [subject, status] = [textIn(broadcast, 'subject'), textIn(broadcast, 'status')];
  useRepeat(status === 'queued', found.reload, lookMs);
  const close = () => {
    asking.value = undefined;
  };
  const ask = (what: 'send' | 'delete') => () => {
    asking.value = what;
  };
  const send = async () => {
    await request('send-project-broadcast', { projectId, id });
    close();
    say(t.mail.broadcastSent(audienceOf(broadcast)));
  };
  const remove = async () => {
    await request('delete-project-broadcast', { projectId, id });
    onClose();
  };
  return (
    <Panel title={subject || id} onClose={onClose}>
      {problem && <ProviderProblem projectId={projectId} problem={problem} onRetry={found.reload} />}
      {data !== undefined && (
        <>
          <p>
            <BroadcastState broadcast={broadcast} /> {t.mail.toAudience(audienceOf(broadcast))}{' '}
            <span class="muted">{textIn(broadcast, 'from')}</span>
          </p>
          {status === 'queued' && (
            <p>
              {t.mail.due} <Time at={timeIn(broadcast, 'scheduled_at')} />
            </p>
          )}
          <HtmlPreview title={t.mail.preview} html={textIn(broadcast, 'html')} />
          <div class="row">
            {status === 'draft' && (
              <Button kind="main-act" onClick={ask('send')}>
                {t.mail.sendNow}
              </Button>
            )}
            {status !== 'sent' && (
              <Button kind="danger" onClick={ask('delete')}>
                {t.acts.delete}
              </Button>
            )}
          </div>
        </>
      )}
      {asking.value && (
        <Confirm
          title={asking.value === 'send' ? t.mail.sendBroadcast : t.mail.deleteBroadcast}
          text={asking.value === 'send' ? t.mail.sendText(audienceOf(broadcast)) : t.mail.deleteBroadcastText}
          name={subject}
          label={t.mail.typeSubject}
          act={asking.value === 'send' ? t.mail.sendNow : t.acts.delete}
          onClose={close}
          onConfirm={asking.value === 'send' ? send : remove}
        />
      )}
    </Panel>
  );
};
