// What the page's modules hand to each other, beside the snapshot.
import type { Packed } from "./snapshot";

/** What an element is made of: text, other elements, nothing; in lists of any depth. */
export type Child = Node | string | number | null | undefined | false;
export type Children = Child | Children[];

/** A seat's gain or loss: seat, name of the points ("total": of one sort), difference. */
export type Gain = [seat: string, name: string, by: number];

/** Called with what went wrong. */
export type Failed = (error: Error) => void;

/** A shape of engine.art: a circle `c`, a text `t`, or a path `d`; fill, stroke and width. */
export interface Shape {
  c?: [number, number, number];
  t?: string;
  d?: string;
  at?: [number, number];
  size?: number;
  turn?: number;
  f?: string;
  s?: string;
  w?: number;
}

export interface Site {
  outlines: string[];
  box: [number, number, number, number];
  reads: string;
  spots?: [number, number][];
  scale?: number;
  of?: string;
}

export interface Piece {
  shapes: Shape[];
  name: Packed;
  size: [number, number];
  disc: boolean;
  spans: [number, number] | null;
  first: boolean;
  seat: string | null;
  index?: number;
}

/** /api/plan: companion.printing.board_drawing.drawn; all in mm. */
export interface Plan {
  game: string;
  size: [number, number];
  board: Shape[];
  sites: { [id: string]: Site };
  pieces: { [kind: string]: Piece };
  faces?: { [kind: string]: { shapes: Shape[]; size: [number, number] } };
  turns?: { [kind: string]: { [site: string]: number } };
}
