// Written by `python -m devtools.javascript_types` from the Python types. Do not edit.

export type Words = Packed | string | number | null;
export type Score = number | { [key: string]: number };

/** picture: a kind of piece to be drawn. */
export interface AnswerView {
  text: Packed;
  picture: string | null;
}

/** text: a trade in the action notation, with gaps. */
export interface Bargain {
  text: string;
  seats: string[];
  goods: Good[];
}

/** by: how the board was found; message: what the camera reports about itself. */
export interface CameraView {
  state: "ok" | "lost" | "covered" | "dark" | "frozen" | "no board";
  by: string | null;
  error_px: number | null;
  fps: number | null;
  message?: string;
}

/** One answer to a decision, and the action it stands for. */
export interface ChoiceView {
  text: Packed;
  action: string;
  picture: string | null;
}

/** A table of words and numbers. */
export interface DataTable {
  title: Packed;
  columns: Packed[] | null;
  rows: Words[][];
  secret?: boolean;
}

/** What a seat has to say because no camera can see it. */
export interface DecisionView {
  seat: string;
  text: Packed;
  choices: ChoiceView[];
  sites: string[];
  ask: boolean;
}

/** A site that is not laid out as it was. */
export interface DifferenceView {
  site: string;
  should: string[];
  seen: string[];
}

/** What is known about a seat; value: null if it is hidden from the viewer. */
export interface Fact {
  label: Packed;
  value: Words;
  colour: string | null;
  kind: string | null;
  secret: boolean;
}

/** What a game shows beyond the layout (engine.State.view). */
export interface GameView {
  phase: Words;
  round: number | null;
  left: Packed | null;
  tracks: Track[];
  seats: SeatFacts[];
  coming: Packed[];
  tables: DataTable[];
  highlight: { [key: string]: Packed };
  notes: Packed[];
  bargain?: Bargain | null;
}

/** Something that can change hands. */
export interface Good {
  id: string;
  name: Packed;
  colour: string;
}

/** A move that stands, with the points after it; words: what hands did. */
export interface MoveView {
  event: number;
  seat: string;
  text: string;
  words: Packed[];
  scores: { [key: string]: Score };
  standing: { [key: string]: number };
  pictures: boolean;
}

export interface OfferView {
  id: number;
  from: string;
  to: string[];
  text: string;
  words: Packed[];
}

/** Who has won and why the game ended. */
export interface OutcomeView {
  winners: string[];
  reason: Packed;
}

/** A sentence: an English template, which the catalogues translate, and its arguments. */
export interface Packed {
  t: string;
  a?: { [key: string]: any };
}

/** since: seconds since 1970, null: the game has not begun. differs: null until the camera has seen the board. */
export interface PauseView {
  since: number | null;
  differs: DifferenceView[] | null;
}

/** seat: who should answer, null: anybody seated. */
export interface QuestionView {
  id: string;
  seat: string | null;
  text: Packed;
  sites: string[];
  answers: AnswerView[];
}

/** Everything known about a seat. */
export interface SeatFacts {
  id: string;
  facts: Fact[];
}

/** A seat of the game. */
export interface SeatView {
  id: string;
  name: Packed;
  colour: string;
}

/** What one viewer sees of a table. */
export interface Snapshot {
  version: number;
  game: string;
  title: Packed;
  seats: SeatView[];
  layout: { [key: string]: string[] };
  turn: string | null;
  actors: string[];
  scores: { [key: string]: Score };
  standing: { [key: string]: number };
  view: GameView;
  settings: TableSettings;
  outcome: OutcomeView | null;
  verdict: VerdictView;
  question: QuestionView | null;
  decision: DecisionView | null;
  moves: MoveView[];
  undone: UndoneView[];
  start: number;
  opening: { [key: string]: Score };
  opening_standing: { [key: string]: number };
  pause: PauseView | null;
  trouble: Packed | null;
  camera: CameraView;
  machine: Packed[];
  serial: number;
  you: You;
  switches: SwitchView[];
  offers: OfferView[];
  table: TableView;
}

/** A fault of simulated hardware that the host may switch on. */
export interface SwitchView {
  id: string;
  text: string;
  on: boolean;
}

/** names: who sits there, seat -> name. */
export interface TableSettings {
  hidden_scores: boolean;
  names?: { [key: string]: string };
}

/** joining: whether seats may be taken; taken: those that are. */
export interface TableView {
  name: string;
  joining: boolean;
  taken: string[];
}

/** What people still have to do; seat: who has to do it, null: anyone at the table. */
export interface TodoView {
  text: Packed;
  sites: string[];
  seat: string | null;
}

/** A value on a scale. steps: names of its positions; marks: values that matter; large: drawn large; means: what it asks for; secret: hidden with the scores, "marks": only its marks. */
export interface Track {
  id: string;
  label: Packed;
  value: number | null;
  max: number | null;
  steps: Packed[] | null;
  marks: number[];
  large?: boolean;
  means?: Packed;
  secret?: true | false | "marks";
}

/** A move that redo would bring back. */
export interface UndoneView {
  seat: string;
  text: string;
}

/** What was concluded last. sites: those that are wrong or have changed; wrong: what hands left there. */
export interface VerdictView {
  verdict: "same" | "moved" | "unfinished" | "illegal" | "unclear" | "busy";
  actions: string[];
  certain: boolean;
  text: Packed;
  back: Packed[];
  violations: ViolationView[];
  todo: TodoView[];
  sites: string[];
  wrong: { [key: string]: string[] };
}

/** A rule that is broken. */
export interface ViolationView {
  rule: string;
  text: Packed;
}

/** The viewer: companion_web.access.Viewer. */
export interface You {
  host: boolean;
  seats: string[];
}
