import type { Collection, EffectInput } from '../../../shared/collections/collection.ts';
import type { Data } from '../../api/rows.ts';
import { effects as texts } from '../../text/effects.ts';
import { Badge } from '../../ui/badge.tsx';
import { Moment } from '../../ui/time.tsx';
import { Explained } from '../access/explained.tsx';
import { effectSentences } from './effect-sentences.ts';

/** The answer of a dry run. */
export type Tried = Data<'try-effects'>;
type TriedEffect = Tried['effects'][number];
type TriedField = TriedEffect['set'][number];

const kinds = {
  runs: 'good',
  refused: 'danger',
  skipped: undefined,
  otherWrite: undefined,
  notReached: 'warning',
  noDate: undefined,
  ran: undefined,
} as const;

const Value = ({ value }: { readonly value: unknown }) =>
  value === undefined ? <span class="muted">{texts.tried.unset}</span> : <code>{JSON.stringify(value)}</code>;

const Fields = ({ fields }: { readonly fields: readonly TriedField[] }) => (
  <ul class="tried-fields">
    {fields.map(({ field, before, after, isLong }) => (
      <li key={field}>
        <strong class="mono">{field}</strong>:{' '}
        {isLong ? (
          <span class="muted">{texts.tried.long}</span>
        ) : (
          <>
            {before !== undefined && (
              <>
                <Value value={before} /> <span class="muted">{texts.tried.becomes}</span>{' '}
              </>
            )}
            <Value value={after} />
          </>
        )}
      </li>
    ))}
  </ul>
);

const Refused = ({ message }: { readonly message: string }) => <p class="refused">{message}</p>;

const Mail = ({ template, to, reason, hasTemplate }: TriedEffect['mails'][number]) => (
  <div>
    <p>{reason === undefined ? texts.tried.mailTo(template, to ?? '') : texts.tried.mailToNone(template, reason)}</p>
    {!hasTemplate && <p class="note warning">{texts.tried.noTemplate(template)}</p>}
  </div>
);

const Did = ({ tried }: { readonly tried: TriedEffect }) => (
  <>
    {tried.set.length > 0 && <Fields fields={tried.set} />}
    {tried.writes.map(({ op, collection, id, fields, refused }, place) => (
      <div key={`${place} ${collection}`}>
        <p>
          {texts.tried.ops[op]} <strong>{collection}</strong>
          {id !== undefined && op !== 'insert' && <span class="mono muted"> {id}</span>}
        </p>
        {op !== 'delete' && fields.length > 0 && <Fields fields={fields} />}
        {refused && <Refused message={refused.message} />}
      </div>
    ))}
    {tried.mails.map((mail) => (
      <Mail key={`${mail.template} ${mail.to}`} {...mail} />
    ))}
    {tried.refused && <Refused message={tried.refused.message} />}
  </>
);

/** What each effect would do, and what would reject the write. */
export const TriedEffects = ({
  tried: { refused, effects: found },
  effects,
  isTimed,
  collection,
  known,
}: {
  readonly tried: Tried;
  readonly effects: readonly EffectInput[];
  /** It shows what happens at the times that the document has. */
  readonly isTimed: boolean;
  readonly collection: Collection;
  readonly known: readonly Collection[];
}) => (
  <div class="stack" role="status">
    {!isTimed && (
      <p>
        <Badge kind={refused ? 'danger' : 'good'}>{refused ? texts.tried.rejected : texts.tried.passes}</Badge>{' '}
        {refused && texts.tried.returns(refused.status, refused.code)}
      </p>
    )}
    {refused && <p>{refused.message}</p>}
    {found.every(({ state }) => state === 'otherWrite') && <p class="muted">{texts.tried.nothing}</p>}
    <ol class="outcomes">
      {found.map((tried, place) => (
        <li key={tried.at} class="stack tried-effect">
          <div class="row">
            <h3>{texts.number(place + 1)}</h3>
            <Badge kind={kinds[tried.state]}>
              {effects[place]?.at && tried.state === 'otherWrite' ? texts.tried.timed : texts.tried.states[tried.state]}
            </Badge>
          </div>
          <p class="small muted">
            <Explained sentences={[effectSentences(effects[place] ?? {}, collection, known).when]} />
          </p>
          {tried.runsAt !== undefined && (
            <p>
              {texts.tried.runsAt} <Moment at={tried.runsAt} />
            </p>
          )}
          <Did tried={tried} />
        </li>
      ))}
    </ol>
  </div>
);
