/*
 * registry.c - the list of detectors, from detectors.def.
 */
#include <string.h>

#include "detect/detector.h"

#define DH_DETECTOR(name) extern const struct dh_detector_ops dh_detector_##name;
#include "detect/detectors.def"
#undef DH_DETECTOR

const struct dh_detector_ops *const dh_detectors[] = {
#define DH_DETECTOR(name) &dh_detector_##name,
#include "detect/detectors.def"
#undef DH_DETECTOR
};

const u32 dh_n_detectors = DH_ARRAY_LEN(dh_detectors);

const struct dh_detector_ops *dh_detector_find(const char *name, size_t len)
{
    for (u32 i = 0; i < dh_n_detectors; i++) {
        const char *its = dh_detectors[i]->name;
        if (strlen(its) == len && memcmp(its, name, len) == 0)
            return dh_detectors[i];
    }
    return NULL;
}

const char *dh_guarantee_name(enum dh_guarantee g)
{
    static const char *const names[] = {
        [DH_PRECISE] = "precise", [DH_HYBRID] = "hybrid",     [DH_PREDICTIVE_SOUND] = "predictive-sound",
        [DH_UNSOUND] = "unsound", [DH_NO_GUARANTEE] = "none",
    };
    return names[g];
}
