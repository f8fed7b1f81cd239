/* Looks compared with what shows at many places, in every turn at once. */

#include "polar.h"

/* Whether no look can explain a patch better than bare ground by more than `least`, in any turn: even if all that its colours leave
   open fitted perfectly. bounds: (K, R, 7), of each ring of a look the lowest and highest of each colour, and the largest area a point of it
   may count with; nothing is known of the colours where these differ from turn to turn. more, less: times what is told for and against
   looks: a patch of few of the points tells of the others too, but not exactly */
INLINE int hopeless(const Patch *p, int r, int a, const float *bounds, int k, float least, float more, float less)
{
    float worth[64];
    int n = p->points;
    const float *seen = p->seen, *ground = p->ground, *weight = p->weight;
    for (int ring = 0; ring < r; ring++) {
        float sum = 0;
#pragma omp simd reduction(+:sum)
        for (int i = ring * a; i < (ring + 1) * a; i++) {
            float x = seen[i] - ground[i], y = seen[n + i] - ground[n + i], z = seen[2 * n + i] - ground[2 * n + i];
            sum += weight[i] * (x * x + y * y + z * z);
        }
        worth[ring] = sum * more * (1 / 3.0f);
    }
    for (int j = 0; j < k; j++) {
        const float *bound = bounds + (size_t)7 * r * j;
        float most = 0;
        for (int ring = 0; ring < r; ring++)
            most += bound[7 * ring + 6] * worth[ring];
        for (int ring = 0; ring < r && most > least; ring++, bound += 7) {
            float cost = 0;
            if (!(bound[3] < 1e9f))
                continue;
            float low[3], high[3];
            for (int c = 0; c < 3; c++)         /* it may be shown no brighter than the camera can */
                low[c] = lesser(bound[c], p->limit[c] * 0.9f), high[c] = bound[3 + c];
#pragma omp simd reduction(+:cost)
            for (int i = ring * a; i < (ring + 1) * a; i++) {
                float x = greater(greater(low[0] - seen[i], seen[i] - high[0]), 0);
                float y = greater(greater(low[1] - seen[n + i], seen[n + i] - high[1]), 0);
                float z = greater(greater(low[2] - seen[2 * n + i], seen[2 * n + i] - high[2]), 0);
                cost += weight[i] * (x * x + y * y + z * z);
            }
            most -= bound[6] * cost * less * (1 / 3.0f);
        }
        if (most > least)
            return 0;
    }
    return 1;
}

#define FEW 8                   /* points of a ring that are looked at first */
#define UNSURE 1.5f             /* times what they tell for looks, so much of what they tell against, to exclude all for sure */

/* Looks to be compared: spectra, dim: (K, F / 8, PLANES R, 3, 8), those of looks as they are and no brighter than the camera shows them;
   table: see waves_of; most: the looks' brightest colour; bounds: of hopeless(), at places for which that holds nothing is told, or NULL,
   and `least` */
typedef struct {
    int r, a, k;
    const float *offsets, *spectra, *dim, *table, *most, *bounds;
    float least;
} Looks;

/* Places compared together with the same spectra */
typedef struct {
    int many, place[AT_ONCE];
    const float *spectra;
    float *folded[AT_ONCE], *waves[AT_ONCE], *squares[AT_ONCE];
} Group;

/* Tells a group's places, and empties it. Its value goes into an Answer */
typedef struct {
    const int64_t *only;            /* (n,) the one look to compare at each place, or a single -1 */
    float *gain;                    /* (n, K), or (n, parts) */
    int64_t *turn;                  /* as many */
    int64_t *which;                 /* (n, parts) the best look of each part, or NULL: all are told */
    const int64_t *part;            /* (K,) */
    int parts;
    const float *rest, *rest_dim;   /* (K, PLANES R) the roots of what the frequencies from 8 on make up of each row of a spectrum */
    float *low, *hope, *high;       /* room: (AT_ONCE, K, 16), (AT_ONCE, K), (AT_ONCE, PLANES R) */
} Answer;

/* All looks, or the one that is wanted */
INLINE void tell(Group *group, const Looks *looks, const Answer *to)
{
    int rows = PLANES * looks->r, a = looks->a, k = looks->k;
    float like[AT_ONCE * 64];
    const float *waves[AT_ONCE];
    for (int b = 0; b < AT_ONCE; b++)
        waves[b] = group->waves[b < group->many ? b : 0];
    for (int b = 0; b < group->many; b++)
        for (int chunk = 0; chunk < a / 16; chunk++)
            waves_of(group->folded[b], rows, a, looks->table, chunk, group->waves[b], NULL, NULL);
    for (int j = 0; j < k && group->many; j++) {
        int wanted = to->only[0] < 0;
        for (int b = 0; b < group->many; b++)
            wanted |= to->only[0] >= 0 && to->only[group->place[b]] == j;
        if (!wanted)
            continue;
        for (int chunk = 0; chunk < a / 16; chunk++)
            likeness(waves, AT_ONCE, group->spectra + (size_t)j * rows * 3 * (a / 2), rows, a, chunk, like);
        for (int b = 0; b < group->many; b++) {
            size_t where = (size_t)group->place[b] * k + j;
            int best;
            to->gain[where] = most_of(like + b * a, a, looks->table, &best);
            to->turn[where] = best;
        }
    }
    group->many = 0;
}

/* The best look of each part: the lowest frequencies tell of most looks that they are not */
INLINE void tell_best(Group *group, const Looks *looks, const Answer *to)
{
    int rows = PLANES * looks->r, a = looks->a, f = a / 2, k = looks->k;
    size_t each = (size_t)rows * 3 * f;
    const float *all = group->spectra == looks->dim ? to->rest_dim : to->rest;
    float like[AT_ONCE * 64];
    const float *waves[AT_ONCE];
    for (int b = 0; b < AT_ONCE; b++)
        waves[b] = group->waves[b < group->many ? b : 0];
    for (int b = 0; b < group->many; b++)
        waves_of(group->folded[b], rows, a, looks->table, 0, group->waves[b], group->squares[b], to->high + b * rows);
    for (int j = 0; j < k && group->many; j++) {
        likeness(waves, AT_ONCE, group->spectra + j * each, rows, a, 0, like);
        for (int b = 0; b < group->many; b++) {
            float *low = to->low + 16 * (b * k + j), rest = 0;
            const float *high = to->high + b * rows, *its = all + (size_t)j * rows;
            memcpy(low, like + b * a, 8 * sizeof *low);
            memcpy(low + 8, like + b * a + f, 8 * sizeof *low);
#pragma omp simd reduction(+:rest)
            for (int p = 0; p < rows; p++)
                rest += high[p] * its[p];
            to->hope[b * k + j] = most_at_most(like + b * a, a, 8, rest);
        }
    }
    for (int b = 0; b < group->many; b++) {
        float *hope = to->hope + b * k, *gain = to->gain + (size_t)group->place[b] * to->parts;
        int64_t *which = to->which + (size_t)group->place[b] * to->parts, *turn = to->turn + (size_t)group->place[b] * to->parts;
        for (int chunks = 1;;) {
            int next = -1, its;
            for (int j = 0; j < k; j++)
                if (hope[j] > gain[to->part[j]] && (next < 0 || hope[j] > hope[next]))
                    next = j;
            if (next < 0)
                break;
            hope[next] = -INFINITY;
            for (; chunks < a / 16; chunks++)
                waves_of(group->folded[b], rows, a, looks->table, chunks, group->waves[b], NULL, NULL);
            const float *mine[1] = {group->waves[b]};
            memcpy(like, to->low + 16 * (b * k + next), 8 * sizeof *like);
            memcpy(like + f, to->low + 16 * (b * k + next) + 8, 8 * sizeof *like);
            for (int chunk = 1; chunk < a / 16; chunk++)
                likeness(mine, 1, group->spectra + next * each, rows, a, chunk, like);
            int64_t part = to->part[next];
            if (most_at_most(like, a, f, 0) <= gain[part])
                continue;
            float most = most_of(like, a, looks->table, &its);
            if (most > gain[part])
                gain[part] = most, which[part] = next, turn[part] = its;
        }
    }
    group->many = 0;
}

/* At (n, 2) pixels: how much better looks explain what shows than bare ground, each in its best turn: of all looks, or of the best of each
   part; burnt (n,): where looks are brighter than the camera shows anything, so that dim has been taken, not spectra. a: looks->a, a
   constant, so that loops are unrolled */
INLINE void compare(const Scene *scene, const double *at, int n, const Looks *given, int a, int best, Answer *to, uint8_t *burnt)
{
    Looks looks = *given;
    looks.a = a;
    int r = looks.r, rows = PLANES * r, points = r * a, some = r * FEW, folds = whole_fours(rows) * FOLDED(a);
    size_t wanted = (size_t)points * (8 + PLANES) + 8 + 2 * AT_ONCE * ((size_t)folds + PLANES * points + rows) + (size_t)some * 10;
    wanted += best ? (size_t)AT_ONCE * (17 * looks.k + rows) : 0;
    float *room = calloc(wanted, sizeof(float)), *next = room;
    Patch patch = {points, next, next + 3 * points, next + 6 * points, next + 7 * points, {0}};
    float *planes = next += 8 * points;
    next += PLANES * points + 8;
    Group groups[2] = {{0, {0}, looks.spectra, {0}, {0}, {0}}, {0, {0}, looks.dim, {0}, {0}, {0}}};
    for (int b = 0; b < 2 * AT_ONCE; b++) {
        Group *group = &groups[b / AT_ONCE];
        group->folded[b % AT_ONCE] = next;
        group->waves[b % AT_ONCE] = next += folds;
        group->squares[b % AT_ONCE] = next += PLANES * points;
        next += rows;
    }
    Patch few = {some, next, next + 3 * some, next + 6 * some, next + 7 * some, {0}};
    float *of_few = next + 8 * some;
    next = of_few + 2 * some;
    if (best)
        to->low = next, to->hope = next + 16 * AT_ONCE * looks.k, to->high = next + 17 * AT_ONCE * looks.k;
    for (int i = 0; i < some; i++) {
        int from = i / FEW * a + i % FEW * (a / FEW) + i / FEW % 2 * (a / FEW / 2);
        of_few[i] = looks.offsets[from], of_few[some + i] = looks.offsets[points + from];
    }
    for (int i = 0; i < n; i++) {
        float x = at[2 * i], y = at[2 * i + 1];
        if (looks.bounds) {
            look_at(scene, x, y, of_few, &few);
            if (hopeless(&few, r, FEW, looks.bounds, looks.k, looks.least, a / FEW * UNSURE, a / FEW / UNSURE))
                continue;
        }
        look_at(scene, x, y, looks.offsets, &patch);
        if (looks.bounds && hopeless(&patch, r, a, looks.bounds, looks.k, looks.least, 1, 1))
            continue;
        burnt[i] = is_burnt(&patch, looks.most);
        Group *group = &groups[burnt[i]];
        planes_of(&patch, planes);
        fold(planes, rows, a, group->folded[group->many], group->squares[group->many]);
        group->place[group->many++] = i;
        if (group->many < AT_ONCE)
            continue;
        if (best)
            tell_best(group, &looks, to);
        else
            tell(group, &looks, to);
    }
    for (int g = 0; g < 2; g++)
        if (best)
            tell_best(&groups[g], &looks, to);
        else
            tell(&groups[g], &looks, to);
    free(room);
}

/* gain, turn (n, K): of all looks; only: (n,) the one look to compare at each place (of the others nothing is filled in), or a single -1;
   light (rows, columns, 3); offsets (2, R A) pixels; the rest as in Looks */
QUICK void compare_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                         int columns, const double *at, int n, const float *offsets, int r, int a, const float *spectra,
                         const float *dim, int k, const float *table, const float *most, const int64_t *only, float *gain, int64_t *turn,
                         uint8_t *burnt)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    Looks looks = {r, a, k, offsets, spectra, dim, table, most, NULL, 0};
    Answer to = {only, gain, turn, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL};
    if (a == 32)
        compare(&scene, at, n, &looks, 32, 0, &to, burnt);
    else
        compare(&scene, at, n, &looks, 64, 0, &to, burnt);
}

/* gain, which, turn (n, parts): of the best look of each part, where that is better than what gain is already, which look, and in which
   turn; part (K,): whose each look is; rest, rest_dim: as in Answer. The rest as in compare_polar and Looks */
QUICK void best_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                      int columns, const double *at, int n, const float *offsets, int r, int a, const float *spectra,
                      const float *dim, int k, const float *table, const float *most, const float *rest, const float *rest_dim,
                      const float *bounds, double least, const int64_t *part, int parts, float *gain, int64_t *which, int64_t *turn,
                      uint8_t *burnt)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    Looks looks = {r, a, k, offsets, spectra, dim, table, most, bounds, least};
    Answer to = {NULL, gain, turn, which, part, parts, rest, rest_dim, NULL, NULL, NULL};
    if (a == 32)
        compare(&scene, at, n, &looks, 32, 1, &to, burnt);
    else
        compare(&scene, at, n, &looks, 64, 1, &to, burnt);
}

/* Which of (n, 2) pixels show about the colour of a piece: the mean over offsets (2, points), no more than BLOCK, in the light there,
   is within `own` of one of tones (many, 3). out (n,) */
QUICK void coloured_places(const uint8_t *seen, int h, int w, const float *light, int rows, int columns, const double *at, int n,
                           const float *offsets, int points, const float *tones, int many, double own, uint8_t *out)
{
    Spots spots;
    float x[BLOCK], y[BLOCK], got[3 * BLOCK];
    for (int i = 0; i < n; i++) {
        const float *l = light_at(light, rows, columns, at[2 * i], at[2 * i + 1]);
        float mean[3] = {0}, x0 = at[2 * i], y0 = at[2 * i + 1];
        for (int j = 0; j < points; j++)
            x[j] = x0 + offsets[j], y[j] = y0 + offsets[points + j];
        find_spots(&spots, x, y, points, h, w);
        colours_at(seen, &spots, points, got, BLOCK);
        for (int c = 0; c < 3; c++) {
            for (int j = 0; j < points; j++)
                mean[c] += got[c * BLOCK + j];
            mean[c] *= l[c] / points;
        }
        out[i] = 0;
        for (int k = 0; k < many; k++, tones += 3)
            out[i] |= fabsf(mean[0] - tones[0]) < own && fabsf(mean[1] - tones[1]) < own && fabsf(mean[2] - tones[2]) < own;
        tones -= 3 * many;
    }
}
